"""Questions with places that answer, over small indexes where it is plain what is read."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from clew import Document, Index
from clew.cli import main
from clew.cli.source import read_facts
from clew.context import fallbacks
from clew.measure import Place, QuotedQuestion, compare_quotes, read_quoted_questions
from clew.measure.questions import read_questions
from clew.measure.quotes import KS, lost_questions

FERRIES = Document("harbour/ferries.md", "Ferries sail at *ten*, and at noon.", format="markdown")
TRAINS = Document("station/trains.md", "Trains run at ten,\nand at noon.", format="markdown")
BAKERY = Document("bakery.md", "Sourdough wants a day of patience.", format="markdown")


def index() -> Index:
    return Index.from_documents([FERRIES, TRAINS, BAKERY])


def test_a_place_is_a_file_by_the_end_of_its_path_and_words() -> None:
    text, paths = "Trains run at *ten*, and\nat NOON.", ["x/station/trains.md"]
    assert Place("station/trains.md", "ten, and at noon").is_in(text, paths)
    assert Place("trains.md").is_in(text, paths)
    assert Place(quote="RUN at").is_in(text, [])
    assert not Place("rains.md", "at ten").is_in(text, paths)  # no end of a path: half a name
    assert not Place("trains.md", "at te").is_in(text, paths)  # half a word
    assert not Place("ferries.md", "at ten").is_in(text, paths)
    with pytest.raises(ValueError, match="a file, a quote of at least one word, or both"):
        Place("", "...")


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("渡轮早上九点出发，晚上八点回来。", "早上九点"),
        ("フェリーは午前九時に出港します。", "午前九時"),
        ("ท่าเรือเปิดเวลาเก้าโมงเช้า", "เก้าโมง"),
        ("배는 아침 아홉 시에 떠난다.", "아홉 시에"),
        ("Le cafe\u0301 ouvre à neuf heures.", "café ouvre"),
        ("Die \ufb01nale FASSUNG der Straße", "finale Fassung der strasse"),
    ],
)
def test_a_quote_is_found_in_every_script(text: str, quote: str) -> None:
    assert Place(quote=quote).is_in(text, [])
    assert not Place(quote=quote[::-1]).is_in(text, [])
    found = Index.from_documents([Document("a", text), Document("b", "Nothing.")])
    compared = compare_quotes(
        found, [QuotedQuestion(text, (Place("a", quote),))], ["bm25"], (1,), (), "bm25", samples=9
    )
    assert compared.mean("bm25", "hit@1") == 1.0


def test_hits_are_counted_by_file_and_quote() -> None:
    asked = [
        QuotedQuestion("When do ferries sail?", (Place("ferries.md", "at ten and at noon"),)),
        QuotedQuestion("When do ferries sail?", (Place("trains.md", "at ten and at noon"),)),
        QuotedQuestion("When do ferries sail?", (Place("trains.md"), Place("ferries.md"))),
        QuotedQuestion("When do ferries sail?", (Place(quote="of a day"),)),
        QuotedQuestion("Who paints lighthouses?"),
    ]
    found = compare_quotes(index(), asked, ["bm25"], (1, 2), (40,), "bm25", samples=50)
    assert found.mean("bm25", "hit@1") == 2 / 4
    assert found.mean("bm25", "hit@2") == 3 / 4
    assert found.questions == 5
    assert [table.values.shape for table in found.tables] == [(1, 2, 4), (1, 1, 4)]
    assert any("of 1 questions no passage holds a whole quote" in note for note in found.notes)
    assert any("the 1 questions that nothing answers, bm25 read" in note for note in found.notes)


def test_a_mark_of_the_encoding_is_no_part_of_a_file(tmp_path: Path) -> None:
    """Windows writes one in front of what PowerShell saves as UTF-8."""
    line = {"question": "When?", "gold": [{"quote": "at ten"}]}
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(line), encoding="utf-8-sig")
    assert read_quoted_questions(file)[0].text == "When?"
    assert read_questions(file)[0].question == "When?"
    facts = tmp_path / "facts.json"
    facts.write_text('{"a.md": [["Ben", "is on", "Corfu"]]}', encoding="utf-8-sig")
    assert read_facts(facts) == {"a.md": [["Ben", "is on", "Corfu"]]}


def test_a_file_that_is_not_there_is_spoken_of() -> None:
    """Its questions count as answered by nobody, which looks like a figure."""
    there = QuotedQuestion("When do trains run?", (Place("trains.md"), Place("no.md")))
    anywhere = QuotedQuestion("When do trains run?", (Place(quote="at ten"), Place("no.md")))
    nowhere = QuotedQuestion("When do ferries sail?", (Place("feries.md", "at ten"),))
    found = compare_quotes(index(), [there, anywhere, nowhere], ["bm25"], (1,), (), "bm25")
    (note,) = (note for note in found.notes if "has no file" in note)
    assert note.startswith("of 1 questions")
    assert "'feries.md'" in note
    others = compare_quotes(index(), [there, anywhere], ["bm25"], (1,), (), "bm25")
    assert not any("has no file" in note for note in others.notes)


def test_a_quote_that_stands_in_another_file_is_spoken_of() -> None:
    asked = [
        QuotedQuestion("When do trains run?", (Place("trains.md", "Trains run at ten"),)),
        QuotedQuestion("When do trains run?", (Place("station/trains.md", "Ferries sail"),)),
        QuotedQuestion("Whose day?", (Place("trains.md", "a day"), Place("trains.md", "patience"))),
        QuotedQuestion("Whose day?", (Place("trains.md", "a day"), Place("bakery.md", "a day"))),
    ]
    assert lost_questions(index(), asked) == asked[1:3]
    best = compare_quotes(index(), asked, ["dense"], (3,), (), samples=9)
    assert best.mean("dense", "hit@3") == 2 / 4, "the others cannot be answered by whatever is read"
    (note,) = (note for note in best.notes if "a whole quote" in note)
    assert note.startswith("of 2 questions")


def test_what_stages_did_instead_of_their_own_work_is_said() -> None:
    asked = [
        QuotedQuestion(text, (Place("ferries.md"),))
        for text in ("When do ferries sail?", "Do ferries sail?")
    ]
    notes = compare_quotes(index(), asked, ["bm25", "agrag"], (1,), (60,), "bm25", samples=9).notes
    said = fallbacks(index().ask("Do ferries sail?", recipe="agrag", budget=60))
    assert len(said) == 1
    assert [note for note in notes if note.startswith("agrag")] == [
        f"agrag, for 2 of 2 questions: {said[0]}"
    ]
    assert not any(note.startswith("bm25") for note in notes)


def test_further_fields_of_a_place_stand_beside_both(tmp_path: Path) -> None:
    place = {"file": "./a.md", "quote": "at ten", "by": "Anna", "line": 3}
    (tmp_path / "asked.jsonl").write_text(json.dumps({"question": "When?", "gold": [place]}))
    (found,) = read_quoted_questions(tmp_path / "asked.jsonl")
    assert found.places == (Place("a.md", "at ten"),)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--asked", "asked.jsonl"), "belong to --judge"),
        (("--judge-model", "m:answer"), "belong to --judge"),
        (("--facts", "none"), "the triples of a benchmark"),
        (("--seed", "-1"), "a whole number of at least 0"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    tmp_path: Path, capsys, options, problem
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("At ten.")
    gold = tmp_path / "asked.jsonl"
    gold.write_text('{"question": "When?", "gold": [{"file": "a.md"}]}')
    typed = ["measure", str(tmp_path / "docs"), "--gold", str(gold), "--recipes", "bm25", *options]
    with suppress(SystemExit):  # of what the parser refuses
        assert main(typed) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--names", "--terms", "--reports"])
def test_what_builds_an_index_is_refused_of_one_that_is_saved(tmp_path: Path, capsys, option):
    Index.from_documents([FERRIES]).save(tmp_path / "town.clew")
    gold = tmp_path / "asked.jsonl"
    gold.write_text('{"question": "When?", "gold": [{"file": "ferries.md"}]}')
    typed = ["measure", str(tmp_path / "town.clew"), "--gold", str(gold), "--recipes", "bm25"]
    assert main([*typed, "--baseline", "bm25"]) == 0
    assert main([*typed, option]) == 2
    assert f"{option} belongs to `clew index`" in capsys.readouterr().err


def test_the_help_has_the_numbers_of_passages_of_both_comparisons(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["measure", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert f"(default: 2,5,10; with --gold {','.join(map(str, KS))})" in text


def test_a_budget_that_is_too_small_is_said_and_reads_nothing() -> None:
    asked = [QuotedQuestion("When do ferries sail?", (Place("ferries.md"),))]
    found = compare_quotes(index(), asked, ["bm25"], (), (1, 40), "bm25", samples=50)
    assert [found.mean("bm25", f"hit@{budget} tokens") for budget in (1, 40)] == [0, 1]
    assert any("read nothing for 1 questions at 1 tokens" in note for note in found.notes)


def test_questions_that_nothing_answers_alone_are_refused() -> None:
    with pytest.raises(ValueError, match="none of the 1 questions has a place"):
        compare_quotes(index(), [QuotedQuestion("Who?")], ["bm25"])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"question": "Who?"}', "'gold' is missing"),
        ('{"question": "Who?", "gold": "ten"}', "'gold' must be a list"),
        ('{"question": "Who?", "gold": ["ten"]}', "must be an object with a text as 'file'"),
        (
            '{"question": "Who?", "gold": [{"file": "a.md", "qoute": "ten"}]}',
            "must be an object with",
        ),
        ('{"question": "Who?", "gold": [{"file": "a.md", "quote": ["ten"]}]}', "must be an object"),
        ('{"question": "Who?", "gold": [{"file": 3}]}', "must be an object with a text as 'file'"),
        ('{"question": "Who?", "gold": [{"quote": "-"}]}', "a quote of at least one word"),
        ('{"question": " ", "gold": []}', "'question' must be a text"),
        ("", "there are no questions"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "asked.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=problem) as error:
        read_quoted_questions(tmp_path / "asked.jsonl")
    assert "asked.jsonl" in str(error.value)
    assert not line or "asked.jsonl:2" in str(error.value)


def test_the_command_compares_recipes_on_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "town"
    for document in (FERRIES, TRAINS, BAKERY):
        path = folder / document.id
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, encoding="utf-8")
    gold = [
        {"question": "When do ferries sail?", "gold": [{"file": "ferries.md", "quote": "at ten"}]},
        {"question": "What wants patience?", "gold": [{"file": "bakery.md"}]},
    ]
    asked = tmp_path / "asked.jsonl"
    asked.write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    command = ["measure", str(folder), "--gold", str(asked), "--recipes", "bm25", "--json"]
    assert main([*command, "--baseline", "bm25", "--limits", "1", "--budgets", "40"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert tables[0]["methods"]["bm25"]["hit@1"]["mean"] == 1
    assert tables[1]["methods"]["bm25"]["hit@40 tokens"]["mean"] == 1
    assert main([*command, "--model", "x:y"]) != 0
