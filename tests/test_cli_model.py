"""`--model`: a dry run, facts read by the user's own model, what failed said and asked for again, and mistakes in one line."""

from __future__ import annotations

import sys

import pytest

from clew import Index, cli

MODULE = """
import json
asked = []
busy = True
def answer(prompt):
    text = prompt.split("Text:\\n")[1].strip()
    asked.append(text)
    if busy and "Corfu" in text:
        raise OSError("busy")
    subject, relation, *_, object = text.strip(".").split()
    return json.dumps({"facts": [[subject, relation, object]]})
def second(prompt):
    return '{"facts": [1]}'
class Large:
    def __init__(self, model):
        self.model = model
    def __call__(self, prompt):
        return answer(prompt)
number = 7
def down(prompt):
    raise OSError("no route")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Anna married Ben.")
    (tmp_path / "docs" / "b.txt").write_text("Ben inhabits Corfu.")
    yield lambda: sys.modules["mine"]
    sys.modules.pop("mine", None)


def run(capsys, command):
    try:
        code = cli.main(command.split())
    except SystemExit as done:
        code = done.code
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_dry_run_asks_nothing_a_real_one_keeps_answers_and_the_next_asks_for_what_failed(
    mine, capsys, tmp_path
):
    code, out, _ = run(capsys, "index docs -o made --model mine:answer --dry-run")
    assert (code, mine().asked) == (0, [])
    assert out.startswith("2 passages: 2 calls of the model, 4 at most; about ")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == [
        "docs",
        "mine.py",
    ]

    code, out, err = run(capsys, "index docs -o made --model mine:answer --workers 1")
    assert code == 0
    assert (
        "no facts from 1 of 2 passages, for instance b.txt: the model mine:answer failed: OSError: busy"
        in err
    )
    assert len(mine().asked) == 4, "the call that failed was made three times"
    assert "4 calls, 3 failed" in err
    assert (
        "1 calls of the model (1 answers are known already)"
        in run(capsys, "index docs -o made --model mine:answer --dry-run")[1]
    )

    mine().busy = False
    _, _, err = run(capsys, "index docs -o made --model mine:answer")
    assert "no facts" not in err
    assert "1 calls:" in err
    assert "1 answers known already" in err
    assert mine().asked[4:] == ["Ben inhabits Corfu."]
    assert set(Index.load("made").graph.facts.texts) == {"Anna married Ben", "Ben inhabits Corfu"}
    code, out, err = run(capsys, "ask made Corfu? --recipe fused --model mine:answer")
    assert (code, len(mine().asked)) == (0, 5)
    assert "the recipe asks no language model" in err
    assert "b.txt" in out


def test_a_question_is_asked_with_a_model_that_filters_the_facts(mine, capsys):
    run(capsys, "index docs -o made --model mine:answer --retries 0 --answers kept.answers")
    for recipe, step in (("agrag", "MappedFacts"), ("hipporag2_paper", "LinkedFacts")):
        code, out, err = run(
            capsys, f"ask made Anna? --recipe {recipe} --model mine:second --explain"
        )
        assert code == 0
        assert "the language model: 1 calls" in err
        assert "facts chosen" in out.split(step)[1].splitlines()[0]


def test_a_model_that_reads_nothing_spoils_no_index(mine, capsys):
    assert run(capsys, "index docs -o docs.clew --model mine:Large:x")[0] == 0
    code, out, err = run(
        capsys, "index docs -o docs.clew --model mine:down --answers other.answers"
    )
    assert (code, out) == (2, "")
    assert "nothing was saved" in err
    assert "no route" in err
    assert len(Index.load("docs.clew").graph.facts)
    assert run(capsys, "index docs -o new.clew --model mine:down --answers other.answers")[0] == 2


def test_a_class_is_made_with_the_model_behind_the_second_colon(mine, capsys):
    run(capsys, "index docs -o made --model mine:Large:huge --answers kept.sqlite")
    assert Index.load("made").extractor.name.startswith("Triples('huge'")


def test_reports_that_were_not_written_are_not_said_to_be_facts(mine, capsys):
    typed = "--writer mine:down --retries 0 --set reports.min_passages=1"
    code, _, err = run(capsys, f"index docs -o made --reports {typed}")
    assert code == 0
    number = len(Index.load("made").graph.rows("report"))
    assert f"texts that the model did not write: {number}, for instance community:" in err
    assert "no route: an extract stands in its place; the same command" in err
    assert "facts" not in err


def test_what_an_answer_took_is_said_with_what_its_context_took(mine, capsys):
    run(capsys, "index docs -o made --model mine:answer --answers kept.answers")
    mine().busy = False
    for more, calls in (("", 1), (" --answer", 2)):
        _, _, err = run(capsys, f"ask made Anna? --recipe agrag --model mine:second{more}")
        assert f"the language model: {calls} calls" in err


@pytest.mark.parametrize("command", ["ask docs Corfu? --answer", "chat docs", "index docs -o made"])
def test_what_asks_an_address_is_missing_before_anything_is_read(
    mine, capsys, monkeypatch, command
):
    monkeypatch.setitem(sys.modules, "openai", None)
    code, out, err = run(capsys, f"{command} --model http://127.0.0.1:1/v1#small")
    assert (code, out) == (2, "")
    assert err == (
        "clew: a model behind an address needs the package openai: pip install 'clew[openai]'\n"
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("index docs -o made --model mine", "--model takes MODULE:NAME"),
        ("index docs -o made --model nowhere:answer", "there is no module 'nowhere'"),
        ("index docs -o made --model mine:other", "the module mine has no 'other'"),
        ("index docs -o made --model mine:answer:huge", "mine:answer is no class"),
        ("index docs -o made --model mine:number", "cannot ask a int"),
        ("index docs -o made --dry-run", "name one with --model"),
        ("index docs -o made --names --model mine:answer", "not allowed with"),
        ("ask docs Corfu? --model mine:other", "the module mine has no 'other'"),
    ],
)
def test_a_mistake_is_one_line(mine, capsys, command, message):
    code, out, err = run(capsys, command)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
