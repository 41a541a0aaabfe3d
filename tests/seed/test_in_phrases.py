"""What a question writes together is found together: versions, dates, names of files."""

from __future__ import annotations

import math

import numpy as np
import pytest

import clew
from clew import Index
from clew.graph import Graph
from clew.seed import BM25, InPhrases
from clew.types import Query

VERSIONS = [
    f"{major}.{minor}.{patch}" for major in range(4) for minor in range(4) for patch in range(4)
]


def scores(graph, question, seed):
    return np.asarray(seed.on(graph)(Query(question)).scores)


@pytest.mark.parametrize("version", ["0.0.1", "3.0.0", "2.1.2", "1.3.3"])
def test_every_version_of_a_list_of_changes_is_told_from_all_others(tmp_path, version):
    parts = [f"## Version {own}\n\nIt came after version {i}.\n" for i, own in enumerate(VERSIONS)]
    (tmp_path / "CHANGES.md").write_text("# Changes\n\n" + "\n".join(parts), encoding="utf-8")
    index = Index.from_documents(tmp_path)
    for question in (f"What changed in version {version}?", f"When did v{version} come?"):
        assert index.ask(question, limit=1).items[0].heading.endswith(f"Version {version}")


def test_the_factor_is_that_of_the_definition():
    graph = Graph.of(
        ["Changes", "2.0", "It sails.", "Since 2.0 it sails.", "It sails, 0 times of 2."],
        kinds=["section", "section", "passage", "passage", "passage"],
        parents=[-1, 0, 1, 0, 0],
    )
    question = "Has it sailed since 2.0?"
    factors = scores(graph, question, InPhrases(BM25(), gain=2))[2:]
    factors = factors / scores(graph, question, BM25())[2:]

    def idf(frequency):  # of three passages
        return math.log(1 + (3 - frequency + 0.5) / (frequency + 0.5))

    rarity = idf(2) / idf(1)  # two have it
    assert factors == pytest.approx([1 + 2 * rarity, 1 + 2 * 0.3 * rarity, 1])


@pytest.mark.parametrize(
    ("question", "has"),
    [
        ("Is 2.0 out?", [True, True, False, False, False]),
        ("Is 1.2.0 out?", [False, False, False, True, False]),
        ("Is 12.0 out?", [False, False, False, False, True]),
    ],
)
def test_a_version_is_no_part_of_another_but_its_zeros(question, has):
    graph = Graph.of(["Out 2.0.", "v2.0.0 out", "2.0.3 out", "1.2.0 out", "12.0 out"])
    raised = scores(graph, question, InPhrases(BM25())) > scores(graph, question, BM25())
    assert raised.tolist() == has


@pytest.mark.parametrize(
    "question", ["What is in config.py?", "config.py", "app/config.py: who reads it?"]
)
def test_a_file_that_is_named_is_read_beside_those_that_mention_it(tmp_path, question):
    (tmp_path / "app").mkdir()
    code = "".join(
        f"def get_{word}():\n    return load('{word}')\n\n\n" for word in ("sea", "isle", "quay")
    )
    (tmp_path / "app" / "config.py").write_text(code, encoding="utf-8")
    for i in range(8):
        text = f"# Guide {i}\n\nWhat config.py reads in app {i} is in the config folder, py {i}.\n"
        (tmp_path / f"guide{i}.md").write_text(text, encoding="utf-8")
    context = Index.from_documents(tmp_path).ask(question)
    assert "app/config.py" in {item.document for item in context.items}
    named = question.replace("config", "settings")  # there is no such file
    context = Index.from_documents(tmp_path).ask(named)
    assert "app/config.py" not in {item.document for item in context.items}


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ('File "/usr/lib/site-packages/flask/config.py", line 3, in load', "src/flask/config.py"),
        ("flask/config.py:12", "src/flask/config.py"),
        ("C:\\app\\docs\\config.py", "docs/config.py"),
        ("./docs/config.py:3:14", "docs/config.py"),
        ("example.org/config.py", None),
    ],
)
def test_a_path_means_the_file_whose_end_is_like_it(tmp_path, named, file):
    for i, path in enumerate(("src/flask/config.py", "docs/config.py", "docs/other.py")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"def ebb_{i}():\n    return {i}\n", encoding="utf-8")
    graph = Index.from_documents(tmp_path).graph
    raised = scores(graph, f"{named} sails", InPhrases(BM25())) > scores(
        graph, f"{named} sails", BM25()
    )
    paths = {graph.metadata[row]["path"] for row in np.flatnonzero(raised).tolist()}
    assert {path.removeprefix(f"{tmp_path.as_posix()}/") for path in paths} == ({file} - {None})


@pytest.mark.parametrize("marks", ['"{}"', "`{}`"])
def test_words_between_quotation_marks_are_looked_for_side_by_side(marks):
    graph = Graph.of(
        [
            "Of an application the context is outside, and it is working.",
            "RuntimeError: Working  outside of\napplication context.",
            "Working outside of applications",
        ]
    )
    quoted = marks.format("working outside of application context")
    question = f"What does {quoted} mean?"
    raised = scores(graph, question, InPhrases(BM25())) > scores(graph, question, BM25())
    assert raised.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "question",
    [
        "Does it sail?",
        "mother-in-law",
        "Is it red and/or blue?",
        "Did it rise by 4.50%, to $4.50?",
        "What are «red blue» mothers?",
        "e.g. graph.of",
        'Who sang "Red Blue" and "It Rose by E.g."?',  # titles
        'Is "a" red blue, and "b"?',  # nothing stands between the second mark and the third
        "Are it 10mb, the 2nd, of 1990s and 2,000,000?",
        "",
    ],
)
def test_a_question_without_phrases_keeps_its_scores(question):
    graph = Graph.of(["A mother in law sails.", "It is red blue, and it rose by 4.50 e.g."])
    query = question or "x"
    assert np.array_equal(scores(graph, query, InPhrases(BM25())), scores(graph, query, BM25()))


@pytest.mark.parametrize("name", ["C++", "C#", "F#"])
@pytest.mark.parametrize(
    "question", ["How do I open a pier in {}?", "{}: open a pier", "({}) pier"]
)
def test_a_letter_with_signs_is_told_from_the_letter(name, question):
    texts = [f"To open a pier in {one}, call a pilot." for one in ("C", "F", "C++", "C#", "F#")]
    index = Index.from_documents(texts)
    assert f" {name}," in index.ask(question.format(name), limit=1).items[0].text


CODES = ["CVE-2017-{n}", "{n}/tcp", "0x8007{n}", "getValue{n}", "978-3-16-{n}-0", "anna.{n}@mail.example.org", "--assume-{w}"]  # fmt: skip


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    "question", ["{}", "What is said about {}?", "オプション{}は何をしますか？"]
)
def test_what_has_a_rare_code_is_first_among_texts_that_are_full_of_its_parts(code, question):
    """Each text has the parts of all codes, one of them the code."""
    parts = " ".join(code.format(n="", w="").replace("-", " ").replace("/", " ").split())
    words = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}x" for i in range(60)]
    texts = [
        f"Ledger {i}: {code.format(n=4000 + i, w=words[i])}. {parts} {parts} {4000 + (i * 7) % 60} {words[(i * 7) % 60]}"
        for i in range(60)
    ]
    index = Index.from_documents([clew.Document(str(i), text) for i, text in enumerate(texts)])
    for i in (0, 17, 42):
        asked = question.format(code.format(n=4000 + i, w=words[i]))
        assert index.ask(asked, limit=1).items[0].document == str(i)


def test_a_code_counts_where_few_have_it_and_by_its_own_signs():
    """What has it gets the best score at least, and up to a quarter more; of six, less of both."""
    graph = Graph.of(
        ["Fix ab-12.", "Fix ab-123.", "Fix ab-12-c.", "Fix xab-12.", "AB-12, all.", "ab 12 fix"]
    )
    before, after = (scores(graph, "fix ab-12", seed) for seed in (BM25(), InPhrases(BM25())))
    best = before.max()
    assert after[[0, 4]] == pytest.approx(best * (1 + (1 + before[[0, 4]] / best) / 8))
    assert after[[1, 2, 3, 5]].tolist() == before[[1, 2, 3, 5]].tolist()
    many = Graph.of([*["Fix ab-12."] * 6, *["Fix ab-13."] * 60, "See ab-12: " + "sea " * 90])
    before, after = (scores(many, "fix ab-12", seed) for seed in (BM25(), InPhrases(BM25())))
    weight = (3 / 7) ** 2
    assert after[:6] == pytest.approx(before[:6] * (1 + weight / 4))
    assert after[6:-1].tolist() == before[6:-1].tolist()
    best = before.max()
    least = max(before[-1], weight * best)
    assert after[-1] == pytest.approx(least * (1 + weight * (1 + before[-1] / best) / 8))


@pytest.mark.parametrize("system", ["linux", "windows", "freebsd"])
def test_of_several_that_have_a_code_what_else_is_asked_tells_which_is_first(system):
    systems = {"linux": "alpha", "windows": "beta", "freebsd": "gamma"}
    texts = [
        *(f"CVE-2021-44228 on {one} servers: install {patch}." for one, patch in systems.items()),
        *(
            f"The ferry number {i} leaves at ten from the {one} quay."
            for i, one in enumerate("abc")
        ),
    ]
    question = f"What do I install on {system} servers for CVE-2021-44228?"
    first = Index.from_documents(texts).ask(question).items
    assert [f"{one} servers" in first[0].text for one in systems] == [
        one == system for one in systems
    ]
    assert {"CVE-2021" in item.text for item in first[:3]} == {True}


def test_a_rare_code_says_that_something_answers_whatever_else_is_asked(tmp_path):
    words = "snapshot taken from the trunk fixes segfault overflow in linker symbols of archives"
    lines = [f"Fix PR{i + 2000}, {' '.join(words.split()[i % 9 :])}." for i in range(300)]
    (tmp_path / "changes.txt").write_text("\n\n".join(lines), encoding="utf-8")
    index = Index.from_documents(tmp_path)
    found = index.ask("Why does Ben's colleague complain about PR2104 again?")
    assert "PR2104" in found.items[0].text
    assert not index.ask("Why does Ben's colleague complain about PR9104 again?").items


def test_a_gain_below_zero_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        InPhrases(gain=-1)
