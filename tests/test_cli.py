"""The command line does what its help says, on real texts: the help of Python's own modules, written to a folder of Markdown files."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

import clew
from clew import cli, recipes
from clew.cli import source
from clew.read.split.splitter import Splitter
from clew.recipe_files import parse_recipe, read_recipe, write_recipe

QUESTION = "Which average should I use for speeds and other rates?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """One Markdown file per module, with a section per function, and two files that are not text."""
    import shutil
    import statistics
    import textwrap

    docs = tmp_path_factory.mktemp("docs")
    for module in (shutil, statistics, textwrap):
        sections = [
            f"## {name}\n\n{inspect.getdoc(getattr(module, name))}\n" for name in module.__all__
        ]
        (docs / f"{module.__name__}.md").write_text(
            f"# The module {module.__name__}\n\n" + "\n".join(sections), encoding="utf-8"
        )
    (docs / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (docs / "nothing.txt").write_text("", encoding="utf-8")
    return docs


@pytest.fixture(scope="module")
def index(folder) -> clew.Index:
    return clew.Index.from_documents(folder, splitter=Splitter(tokens=256))


@pytest.fixture(scope="module")
def saved(folder, tmp_path_factory) -> str:
    where = tmp_path_factory.mktemp("saved") / "docs.clew"
    assert cli.main(["index", str(folder), "-o", str(where)]) == 0
    return str(where)


def run(capsys, *arguments: object) -> tuple[object, str, str]:
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as done:  # the parser's own way out
        code = done.code
    said = capsys.readouterr()
    return code, said.out, said.err


def test_ask_prints_the_context_and_the_lines_every_item_stands_on(capsys, folder, index):
    question = "How do I find the middle value of some numbers?"
    code, out, _ = run(capsys, "ask", folder, question, "--budget", 700)
    context = index.ask(question, budget=700)
    assert len(context) > 1
    text, _, below = out.rpartition("\n\nsources: ")
    assert (code, text) == (0, context.text)
    assert below.startswith(f"{len(context)} items, {context.tokens} of 700 tokens\n")
    places = re.findall(
        r"^ +(\d+)  (\S+?):(\d+)(?:-(\d+))? > (.+)  \(([\d,]+) tokens\)$", below, re.MULTILINE
    )
    assert [int(number) for number, *_ in places] == list(range(1, len(context) + 1))
    for item, (_, file, first, last, heading, tokens) in zip(context, places, strict=True):
        lines = (
            (folder / file)
            .read_text(encoding="utf-8")
            .splitlines()[int(first) - 1 : int(last or first)]
        )
        assert "\n".join(lines).strip() == item.text.strip()
        assert heading.split(" > ")[-1] in (folder / file).read_text(encoding="utf-8")
        assert int(tokens) == item.tokens


def test_a_saved_index_answers_as_the_folder_does(capsys, folder, saved):
    asked = (QUESTION, "--budget", 500, "--explain")
    of_folder, of_index = (
        run(capsys, "ask", what, *asked)[1].partition("\nstages:")[0] for what in (folder, saved)
    )
    assert of_folder == of_index


def test_json_says_all_there_is(capsys, saved, index):
    said = json.loads(
        run(
            capsys,
            "ask",
            saved,
            QUESTION,
            "--budget",
            500,
            "--limit",
            3,
            "--recipe",
            "bm25",
            "--json",
        )[1]
    )
    wanted = index.ask(QUESTION, budget=500, limit=3, recipe="bm25").to_dict()
    assert {key: value for key, value in said.items() if key != "trace"} == {
        key: value for key, value in wanted.items() if key != "trace"
    }


def test_explain_says_why_each_item_is_there_what_was_left_out_and_how_long_it_took(
    capsys, saved, index
):
    question = "How do I find the middle value of some numbers?"
    context = index.ask(question, budget=300)
    out = run(capsys, "ask", saved, question, "--budget", 300, "--explain")[1]
    assert context.items
    assert context.dropped
    for item in context:
        assert item.location != item.id
        assert (
            f"seed, score {item.score:.3f}  {item.id}  ({item.location})\n        the question touches it ({item.why[0].weight:.2f})"
            in out
        )
    for dropped in context.dropped[:5]:
        assert f"{dropped.id}: {dropped.reason}" in out
    assert len(re.findall(r"^ +[\d.]+ ms  ", out, re.MULTILINE)) == len(context.trace)


def test_the_sources_of_a_page_of_html_open_at_their_anchor(capsys, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/tides.html").write_text(
        "<h1 id=top>Sea</h1><h2 id=ebb>Ebb</h2><p>The ebb runs for six hours.</p>"
        "<h2 id=flood>Flood</h2><p>The flood is salt.</p>"
    )
    page = tmp_path / "why.html"
    out = run(capsys, "ask", tmp_path / "in", "How long does the ebb run?", "--html", page)[1]
    assert re.search(r"^ +1  tides\.html#ebb > Sea > Ebb  \(", out, re.MULTILINE)
    assert 'href="./in/tides.html#ebb"' in page.read_text(encoding="utf-8")


def test_mermaid_and_html_show_the_same_context(capsys, saved, index, tmp_path):
    out = run(capsys, "ask", saved, QUESTION, "--mermaid", "--html", tmp_path / "why.html")[1]
    context = index.ask(QUESTION)
    assert out == context.to_mermaid()
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert page.count("<article") == len(context)


def test_style_where_and_limit_reach_the_index(capsys, saved):
    _, out, _ = run(
        capsys,
        "ask",
        saved,
        "copy a file",
        "--style",
        "numbered",
        "--limit",
        2,
        "--where",
        "file_name=shutil.md",
    )
    assert re.findall(r"^\[(\d)\]", out, re.MULTILINE) == ["1", "2"]
    assert set(re.findall(r"^ +\d  (\S+?):", out, re.MULTILINE)) == {"shutil.md"}
    both = run(
        capsys,
        "ask",
        saved,
        "text file",
        "--budget",
        "none",
        "--where",
        "file_name=shutil.md",
        "--where",
        "file_name=textwrap.md",
    )[1]
    assert set(re.findall(r"^ +\d+  (\S+?\.md)", both, re.MULTILINE)) == {
        "shutil.md",
        "textwrap.md",
    }


def test_a_value_of_where_is_text_and_number():
    from clew.cli.question_options import parse_where

    assert parse_where(["year=2020", "year=2021", "name=x=y"]) == {
        "year": ["2020", 2020, "2021", 2021],
        "name": ["x=y"],
    }


def test_a_path_of_where_is_written_as_documents_have_it_on_windows(monkeypatch):
    from clew.cli import question_options

    class WindowsPath(PureWindowsPath):
        def resolve(self):
            return type(self)("C:\\Notes") / self

    monkeypatch.setattr(question_options, "Path", WindowsPath)
    typed = question_options.parse_where(["path=guide\\a.md"])
    assert "C:/Notes/guide/a.md" in typed["path"]


@pytest.mark.parametrize("typed", ["Fa\u0308hre.md", "F\u00e4hre.md"])
@pytest.mark.parametrize("named", ["Fa\u0308hre.md", "F\u00e4hre.md"])
def test_where_finds_a_file_whichever_way_its_name_is_written(capsys, tmp_path, typed, named):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / named).write_text("The ferry leaves at eight.", encoding="utf-8")
    (tmp_path / "notes" / "b.md").write_text("The ferry is white.", encoding="utf-8")
    for where in (f"file_name={typed}", f"path={tmp_path}/notes/{typed}"):
        out = run(capsys, "ask", tmp_path / "notes", "The ferry?", "--where", where)[1]
        assert "at eight" in out
        assert "white" not in out


def test_facts_are_read_from_json(capsys, folder, tmp_path):
    facts = tmp_path / "facts.json"
    facts.write_text(
        json.dumps({"statistics.md": [["harmonic_mean", "is an average of", "rates"]]}),
        encoding="utf-8",
    )
    out = run(
        capsys,
        "ask",
        folder,
        "average of rates",
        "--facts",
        facts,
        "--recipe",
        "hipporag",
        "--limit",
        1,
        "--explain",
    )[1]
    assert "the question matches the fact “harmonic_mean is an average of rates”" in out


def test_what_is_not_read_is_said_beside_the_result(capsys, folder):
    _, out, err = run(capsys, "ask", folder, QUESTION, "--no-cache")
    assert err.startswith("clew: not read: ")
    assert "(logo.png)" in err.splitlines()[0]
    assert "(nothing.txt)" in err.splitlines()[0]
    assert "logo.png" not in out
    assert source.skipped_files(
        (("a/x", "binary"), *((f"{i}.gif", "empty") for i in range(5)))
    ) == ("not read: 5 empty (0.gif, 1.gif, 2.gif, …); 1 binary (x)")


def test_what_was_read_otherwise_is_not_called_unread(capsys):
    source.print_skipped(
        [
            ("a.rs", "read as text, not by its syntax"),
            ("b.png", "a picture"),
            ("exclude", "2 files left out"),
        ]
    )
    assert capsys.readouterr().err.splitlines() == [
        "clew: 2 files left out by --exclude",
        "clew: not read: 1 a picture (b.png)",
        "clew: read otherwise: 1 as text, not by its syntax (a.rs)",
    ]


def test_what_is_read_in_part_is_not_called_unread(capsys, tmp_path):
    (tmp_path / "bad.html").write_bytes(b"<meta charset=utf-8><p>The ferry sails at ten. \x81\x8d")
    (tmp_path / "good.html").write_text("<p>The sign \ufffd stands here.", encoding="utf-8")
    (tmp_path / "rows.csv").write_text("name,town\nAnn,Corfu\nBo\nCy,Paxos,1996\n")
    (tmp_path / "zero.bin").write_bytes(b"\0")
    err = run(capsys, "ask", tmp_path, QUESTION, "--no-cache")[2].splitlines()
    (otherwise,) = [line for line in err if "read otherwise" in line]
    (unread,) = [line for line in err if "not read" in line]
    assert unread == "clew: not read: 1 binary (zero.bin)"
    for said in ("1 but for 2 characters", "(bad.html)", "with what is there", "(rows.csv#3)"):
        assert said in otherwise
    assert "good.html" not in otherwise


def test_slow_reading_hints_at_an_index(capsys, folder, monkeypatch):
    assert (
        "clew index" not in run(capsys, "ask", folder, QUESTION, "--no-cache")[2]
        or source.SLOW < 5.1
    )  # as slow as this machine happens to be
    monkeypatch.setattr(source, "SLOW", -1.0)
    said = run(capsys, "ask", folder, QUESTION, "--no-cache")[2]
    assert f"`clew index {folder} -o DIR`" in said


def test_nothing_found_is_said(capsys, saved):
    """One line on stderr and the exit code 1, as grep has it; the nearest come if that is wanted."""
    code, out, err = run(capsys, "ask", saved, "xyzzy plugh")
    assert (code, out) == (1, "")
    assert re.fullmatch(r"clew: nothing in it answers .* --min-relevance 0 shows .*\n", err)
    code, out, err = run(capsys, "ask", saved, "xyzzy plugh", "--min-relevance", "0")
    assert (code, "sources: " in out, err) == (0, True, "")
    code, out, err = run(
        capsys, "ask", saved, "xyzzy plugh", "--min-relevance", "0", "--recipe", "bm25"
    )
    assert (code, out) == (1, "")
    assert err.startswith("clew: nothing that may be read touches the question")


def test_where_nothing_is_found_a_model_is_named_if_one_could_be_used(
    capsys, saved, folder, tmp_path, monkeypatch
):
    def said(source, *more):
        code, _, err = run(capsys, "ask", source, "xyzzy plugh", "--no-cache", *more)
        assert code == 1
        return [line for line in err.splitlines() if line.startswith("clew: nothing")]

    monkeypatch.setattr("clew.cli.ask.find_spec", lambda name: None)
    (line,) = said(folder)
    assert "--embedder" not in line
    monkeypatch.setattr("clew.cli.ask.find_spec", lambda name: name == "sentence_transformers")
    (line,) = said(folder)
    assert line.endswith("; --embedder NAME finds what is said in other words")
    (tmp_path / "code").mkdir()
    for i in range(9):
        words = " ".join(f"name_{i}_{k} = {k}\n" for k in range(50)).replace("\n ", "\n")
        (tmp_path / "code" / f"m{i}.py").write_text(words)
    assert all("--embedder" not in line for line in said(tmp_path / "code"))
    code, _, err = run(capsys, "ask", saved, "xyzzy plugh")
    assert (code, "--embedder" in err) == (1, False)
    assert "--embedder" not in "".join(said(folder, "--where", "colour=red"))
    code, out, _ = run(capsys, "ask", saved, "xyzzy plugh", "--json")
    found = json.loads(out)
    assert (code, found["items"], found["relevance"] < 0.1) == (1, [], True)
    assert "nothing in it answers" in found["nothing_found"]


def test_a_fallback_is_said_beside_the_result_and_what_could_be_filtered_by(capsys, saved):
    code, out, err = run(capsys, "ask", saved, QUESTION, "--where", "file_name=absent.md")
    assert (code, out) == (1, "")
    assert re.fullmatch(
        r"clew: the filter allows none of the passages; its metadata has file_name, path, title\n",
        err,
    )
    assert run(capsys, "ask", saved, QUESTION)[2] == ""
    assert (
        "the graph has no facts"
        in run(capsys, "ask", saved, QUESTION, "--recipe", recipes.DEFAULT)[2]
    )


def mistakes(folder: Path, saved: str, tmp_path: Path) -> dict[str, tuple[object, ...]]:
    """What the line on stderr says, by what was typed."""
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    (tmp_path / "unknown.json").write_text('{"nowhere.md": [["a", "b", "c"]]}', encoding="utf-8")
    return {
        "no file or folder": ("ask", tmp_path / "absent", "x"),
        f"the question comes last: clew ask {folder} 'Who sails?'": ("ask", "Who sails?", folder),
        "unknown recipe 'best'; known: dense": ("ask", folder, "x", "--recipe", "best"),
        "--budget: a whole number": ("ask", folder, "x", "--budget", "-1"),
        "--limit: a whole number of at least 1 is wanted, not 'many'": (
            "ask",
            folder,
            "x",
            "--limit",
            "many",
        ),
        "question: a question has": ("ask", folder, " "),
        "unrecognized arguments: --best (see `clew --help`)": ("ask", folder, "x", "--best"),
        "invalid choice: 'find'": ("find", folder, "x"),
        "KEY=VALUE": ("ask", saved, "x", "--where", "name"),
        "bad.json is not JSON": ("ask", folder, "x", "--facts", tmp_path / "bad.json"),
        "must hold one JSON object": ("ask", folder, "x", "--facts", tmp_path / "list.json"),
        "'nowhere.md'": ("ask", folder, "x", "--facts", tmp_path / "unknown.json"),
        "absent.json: No such file": ("ask", folder, "x", "--facts", tmp_path / "absent.json"),
        "--tokens belongs to `clew index`": ("ask", saved, "x", "--tokens", 9),
        "--names belongs to `clew index`": ("ask", saved, "x", "--names"),
        "--writer belongs to `clew index`": ("ask", saved, "x", "--writer", "os:getcwd"),
        "--communities belongs to": ("ask", saved, "x", "--communities", "louvain"),
        "found: add --reports": ("ask", folder, "x", "--communities", "louvain"),
        "--tokens: a whole number": ("ask", folder, "x", "--tokens", 0),
        "pip install": ("ask", folder, "x", "--embedder", "some-model"),
        "exists and is not an index": ("index", folder, "-o", folder),
        "needs at least one with text": ("index", folder / "nothing.txt", "-o", tmp_path / "new"),
        "unknown recipe 'worst'": ("recipes", "worst"),
        "name a folder": ("measure",),
        "-o belongs to --prepare": ("measure", folder, "-o", tmp_path),
        "--prepare takes": ("measure", folder, "--prepare", folder),
        "corpus.jsonl": ("measure", folder),
    }


def test_a_mistake_is_one_line_on_stderr_and_code_2(capsys, folder, saved, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # as if it were not installed
    capsys.readouterr()
    for wanted, typed in mistakes(folder, saved, tmp_path).items():
        code, out, err = run(capsys, *typed)
        last = err.splitlines()[-1]
        assert (code, out) == (2, ""), typed
        assert last.startswith("clew: "), typed
        assert wanted in last, typed
        assert "Traceback" not in err


def test_traceback_is_there_for_those_who_want_it(folder):
    with pytest.raises(ValueError, match="unknown recipe"):
        cli.main(["ask", str(folder), "x", "--recipe", "best", "--traceback"])


def test_a_wrong_recipe_is_said_before_anything_is_read(capsys, folder, monkeypatch):
    monkeypatch.setattr(clew.Index, "from_documents", lambda *_, **__: pytest.fail("read"))
    assert run(capsys, "ask", folder, "x", "--recipe", "best")[0] == 2
    assert run(capsys, "ask", folder, "x", "--where", "name")[0] == 2


def test_interruption_is_quiet(capsys, folder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(clew.Index, "from_documents", interrupt)
    assert run(capsys, "ask", folder, "x", "--no-cache") == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_that_has_enough_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "recipes", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_lacks_a_character_gets_its_number(tmp_path, encoding):
    text = "Wörter ⟶ text 😀"
    (tmp_path / "words.txt").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "clew", "ask", str(tmp_path), "Which text?", "--no-cache"]
    said, as_json = (
        subprocess.run(
            [*command, *more],
            env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for more in ([], ["--json"])
    )
    assert text.encode(encoding, "backslashreplace") in said
    assert json.loads(as_json.decode(encoding))["items"][0]["text"] == text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_file_that_a_pipe_of_windows_writes_is_read_as_it_was_meant(tmp_path, encoding):
    (tmp_path / "words.txt").write_text("Wörter und слова: öffnen.", encoding="utf-8")

    def written(*typed):
        return subprocess.run(
            [sys.executable, "-m", "clew", *typed],
            env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout

    name = next(one for one in recipes.names() if "überblick" in write_recipe(recipes.get(one)))
    recipe = tmp_path / "my.toml"
    recipe.write_bytes(written("recipes", name, "--toml"))
    assert read_recipe(recipe) == recipes.get(name)
    chart = written("ask", str(tmp_path / "words.txt"), "Wörter?", "--no-cache", "--mermaid")
    shown = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), chart.decode("utf-8"))
    assert "Wörter und слова: öffnen." in shown


def test_json_has_no_number_that_json_has_not(capsys, tmp_path):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    lines = '{"text": "The heron nests at the pier.", "score": NaN, "size": 1e999, "tall": 0.5}\n'
    (tmp_path / "birds.jsonl").write_text(lines, encoding="utf-8")
    asked = ("ask", tmp_path / "birds.jsonl", "Where does the heron nest?", "--json")
    said = json.loads(run(capsys, *asked)[1], parse_constant=refuse)
    metadata = said["items"][0]["metadata"]
    assert (metadata["score"], metadata["size"], metadata["tall"]) == (None, None, 0.5)


def test_every_recipe_is_listed_with_what_it_does_and_its_stages(capsys):
    listed = json.loads(run(capsys, "recipes", "--json")[1])
    assert list(listed) == recipes.names()
    for name, about in listed.items():
        assert about["does"], f"nothing is said above {name}"
        assert all(stage["does"] for stages in about["stages"].values() for stage in stages)
        assert about["method"] == repr(recipes.get(name))
    out = run(capsys, "recipes")[1]
    assert all(f"{name}\n" in out or f"{name} (the default)\n" in out for name in listed)


def test_a_benchmark_is_prepared_and_measured(capsys, tmp_path):
    texts = {
        "Anna": "Anna married Ben.",
        "Ben": "Ben lives on Corfu.",
        "Corfu": "Corfu is an island.",
        "Delos": "Delos is holy.",
    }
    record = {
        "_id": "1",
        "question": "Where does Anna's husband live?",
        "answer": "Corfu",
        "context": [[title, [text]] for title, text in texts.items()],
        "supporting_facts": [["Anna", 0], ["Ben", 0]],
    }
    (tmp_path / "hotpot.json").write_text(json.dumps([record]), encoding="utf-8")
    made = tmp_path / "made"
    assert (
        "1 questions on 4 passages"
        in run(capsys, "measure", "--prepare", tmp_path / "hotpot.json", "-o", made)[1]
    )
    how = ("--recipes", "bm25", "--budgets", "20,40", "--limits", "2")
    code, out, _ = run(capsys, "measure", made, *how)
    assert code == 0
    assert all(
        said in out for said in ("| bm25 |", "| dense |", "R@2", "R@20 tokens", "R@40 tokens")
    )
    assert json.loads(run(capsys, "measure", made, *how, "--json")[1])["questions"] == 1


def test_every_example_of_the_help_can_be_typed():
    """The commands of all epilogs parse; what follows two spaces is a remark."""
    subparsers = next(
        action
        for action in cli.build_parser()._actions
        if hasattr(action, "choices") and action.choices and "ask" in action.choices
    )
    epilogs = [cli.build_parser().epilog, *(sub.epilog for sub in subparsers.choices.values())]
    lines = [
        line.strip()
        for epilog in epilogs
        for line in epilog.splitlines()
        if line.strip().startswith("clew ")
    ]
    assert len(lines) > 15
    for line in lines:
        for command in re.split(r" && | \| jq.*", re.split(r"  +", line)[0]):
            if command.strip():
                assert cli.build_parser().parse_args(shlex.split(command)[1:]).run


def test_without_a_command_the_help_is_shown_and_the_version_is_the_packages(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    assert out.startswith("usage: clew")
    with pytest.raises(SystemExit) as done:
        cli.main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"clew {clew.__version__}\n"


def test_names_give_the_recipes_on_facts_something_to_walk_on(capsys, tmp_path):
    (tmp_path / "a.txt").write_text("Theseus of Athens killed the Minotaur.")
    (tmp_path / "b.txt").write_text("Ariadne helped Theseus of Athens.")
    asked = ("ask", tmp_path, "Who killed the Minotaur?", "--recipe", "hipporag", "--json")
    facts = [
        json.loads(run(capsys, *asked, *more)[1])["trace"][0]["notes"]["facts"]
        for more in ((), ("--names",))
    ]
    assert facts[0] == 0 < facts[1]


def test_terms_are_read_in_lower_case(capsys, tmp_path):
    (tmp_path / "a.txt").write_text("the wing of a heron glider stands in a propeller slipstream.")
    (tmp_path / "b.txt").write_text("a propeller slipstream delays the stall of a heron glider.")
    asked = ("ask", tmp_path, "does a propeller slipstream delay a stall?", "--json")
    notes = [
        json.loads(run(capsys, *asked, *more)[1])["trace"][0]["notes"].get("facts", 0)
        for more in (("--names",), ("--terms",), ("--terms", "--set", "terms.max_words=1"))
    ]
    assert notes[0] == 0 < notes[1]
    assert notes[1] <= notes[2]
    assert run(capsys, *asked, "--terms", "--names")[0] == 2


def test_reports_are_written_and_read_by_global(capsys, folder, tmp_path):
    code, out, _ = run(capsys, "index", folder, "-o", tmp_path / "told.clew", "--reports")
    assert code == 0
    assert re.search(r"[1-9]\d* reports", out)
    code, out, err = run(
        capsys,
        "ask",
        tmp_path / "told.clew",
        "What is all of this about?",
        "--recipe",
        "global",
        "--json",
    )
    assert code == 0, err
    items = json.loads(out)["items"]
    assert items[0]["role"] == "report"
    assert items[0]["why"][0]["source"] == "question"
    code, _, err = run(capsys, "ask", tmp_path / "told.clew", "What?", "--reports")
    assert code == 2
    assert "--reports belongs to `clew index`" in err


HEAP = """
import logging
import numpy as np
from clew.algorithms.kernels import heap
from clew.algorithms.kernels.compiled import compile_first
logging.basicConfig(level=logging.INFO, format="%(message)s")
keys, rows = np.zeros(4), np.zeros(4, np.int64)
heap.sift_up(keys.copy(), rows, 0, 0.25, 2)
with compile_first():
    heap.sift_up(keys, rows, 0, 0.5, 3)
print(keys[0], rows[0])
"""


def test_a_loop_is_compiled_once_for_all_processes_and_that_is_said(tmp_path):
    first, second = (
        subprocess.run(
            [sys.executable, "-c", HEAP],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    )
    assert first.stdout == second.stdout == "0.5 3\n"
    assert first.stderr.count("compiling loops of clew.algorithms.kernels.heap") == 1
    assert first.stderr.count("compiling") == 1
    assert "clew warm" in first.stderr
    assert "compiling" not in second.stderr


def test_what_is_warm_is_said(capsys):
    code, out, err = run(capsys, "warm", "bm25")
    assert (code, out) == (0, "")
    assert re.search(r"ready after \d+ s: bm25; the machine code is kept", err)


@pytest.mark.slow
def test_what_is_compiled_is_said_once_and_kept_by_warm(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-m", "clew", "warm", "dense"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stderr
        for _ in range(2)
    )
    assert first.count("clew: compiling") == 1
    assert "clew warm" in first
    assert "ready after" in second
    assert "compiling" not in second


def test_an_unknown_recipe_is_not_warmed(capsys):
    assert cli.main(["warm", "dense", "nix"]) == 2
    assert "unknown recipe 'nix'" in capsys.readouterr().err


def test_a_recipe_is_written_to_a_file_changed_and_asked(capsys, saved, tmp_path):
    code, out, _ = run(capsys, "recipes", "fused", "--toml")
    assert code == 0
    assert parse_recipe(out) == clew.recipes.get("fused")
    file = tmp_path / "my.toml"
    file.write_text(out.replace('k = "none"', "k = 2"), encoding="utf-8")
    asked = run(capsys, "ask", saved, QUESTION, "--recipe", file, "--json")[1]
    assert len(json.loads(asked)["items"]) == 2
    by_setting = run(
        capsys, "ask", saved, QUESTION, "--recipe", "fused", "--set", "select.k=2", "--json"
    )[1]
    assert [item["id"] for item in json.loads(by_setting)["items"]] == [
        item["id"] for item in json.loads(asked)["items"]
    ]
    code, _, err = run(capsys, "ask", saved, QUESTION, "--set", "select.kk=2")
    assert code == 2
    assert "Top has no 'kk'; it has k" in err
    file.write_text('use = "os.system"', encoding="utf-8")
    code, _, err = run(capsys, "ask", saved, QUESTION, "--recipe", file)
    assert code == 2
    assert "my.toml: the recipe is one of DaRag, Pipeline, Router" in err
    code, _, err = run(capsys, "recipes", "--toml")
    assert code == 2
    assert "name it" in err


def test_the_settings_that_the_help_shows_are_taken(capsys, tmp_path):
    (tmp_path / "a.txt").write_text("Anna paints. Ben sails to Corfu.", encoding="utf-8")
    _, text, _ = run(capsys, "index", "--help")
    shown = re.search(r"such as (\S+) or (\S+);", " ".join(text.split())).groups()
    settings = [word for setting in shown for word in ("--set", setting)]
    code, _, err = run(capsys, "ask", tmp_path, "Who paints?", "--reports", *settings)
    assert (code, "has no" in err) == (0, False)


@pytest.mark.parametrize("command", ["ask", "chat", "serve", "mcp", "document", "measure"])
def test_no_example_of_the_help_reads_a_saved_index_otherwise(capsys, command):
    _, reading, _ = run(capsys, "index", "--help")
    _, text, _ = run(capsys, command, "--help")
    examples = re.findall(rf"^  clew {command} .*\.clew .*", text, re.MULTILINE)
    options = re.findall(r"--(?:names|titles|summaries|reports|sentences|tokens|plain)\b", reading)
    assert options
    assert not [line for line in examples for option in options if f"{option} " in f"{line} "]


def test_how_a_folder_is_read_is_set_from_the_command(capsys, tmp_path):
    docs, where = tmp_path / "docs", tmp_path / "made"
    docs.mkdir()
    text = "Anna Berg married Ben Stone on Corfu. Ben Stone paints. Anna Berg sails to Corfu."
    for name in "abc":
        (docs / f"{name}.txt").write_text(f"{name}: {text}", encoding="utf-8")
    code, _, err = run(
        capsys, "index", docs, "-o", where, "--names", "--sentences", "--titles", "--summaries",
        "--reports", "--set", "reports.min_passages=1", "--set", "reports.tokens=40",
        "--set", "summaries.min_passages=2", "--set", "titles.tokens=12",
        "--set", "splitter.tokens=40",
    )  # fmt: skip
    assert (code, err) == (0, "")
    made = clew.Index.load(where)
    by_name = {type(one).__name__: one for one in made.generators}
    assert list(by_name) == ["Descriptions", "Summaries", "Reports"]
    assert (by_name["Reports"].tokens, by_name["Reports"].min_passages) == (40, 1)
    assert (by_name["Summaries"].min_passages, by_name["Descriptions"].tokens) == (2, 12)
    assert made.splitter.sentences
    assert made.splitter.tokens == 40
    for kind in ("sentence", "description", "summary", "report"):
        assert len(made.graph.rows(kind)), kind
    for arguments, reason in (
        (("index", docs, "-o", where, "--set", "reports.level=1"), "add --reports"),
        (("index", docs, "-o", where, "--set", "triples.workers=2"), "give `clew index` a --model"),
        (("index", docs, "-o", where, "--set", "select.k=1"), "give it to `clew ask`"),
        (("index", docs, "-o", where, "--set", "splitter.size=1"), "Splitter has no 'size'"),
        (("index", docs, "-o", where, "--writer", "json:loads"), "add one of them"),
        (("ask", where, "Who?", "--set", "splitter.tokens=9"), "is a saved index"),
        (("ask", where, "Who?", "--titles"), "is a saved index"),
    ):
        code, _, err = run(capsys, *arguments)
        assert code == 2
        assert reason in err


def test_a_source_without_a_name_is_none(capsys, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("The ferry sails at six.")
    monkeypatch.chdir(tmp_path)
    for command in ("ask", "index", "chat"):
        rest = {"ask": ["When?"], "index": ["-o", "a.clew"], "chat": ["--ask", "When?"]}[command]
        code, out, err = run(capsys, command, "", *rest)
        assert (code, out, err) == (2, "", "clew: there is no file or folder ''\n")


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the stream")
def test_a_closed_stream_is_no_error(tmp_path):
    (tmp_path / "a.txt").write_text("The ferry sails at six.")
    asked = [
        sys.executable,
        "-m",
        "clew",
        "ask",
        "--no-cache",
        str(tmp_path),
        "When does the ferry sail?",
    ]
    done = subprocess.run(
        ["sh", "-c", f"{shlex.join(asked)} >&-"], stderr=subprocess.PIPE, check=True
    )
    assert b"Traceback" not in done.stderr
