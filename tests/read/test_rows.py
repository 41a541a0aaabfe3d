"""Rows with named columns: one document each, nothing lost, what does not fit said."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index, Splitter
from clew.read import load_documents, read_rows
from clew.read.formats.source_file import SourceFile

CELLS = st.text(st.sampled_from("ab \"',;\t|\n月é:"), max_size=6).map(
    lambda text: " ".join(text.split(" ")).strip()
)


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_a_table_is_written_with_is_read_back(tmp_path_factory, table, delimiter, encoding):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(
        [["one", "two words", "three"], *table]
    )
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_bytes(file.getvalue().encode(encoding))
    _, *read = read_rows(path)
    wanted = [
        {k: v for k, v in zip(("one", "two words", "three"), row, strict=True) if v}
        for row in table
    ]
    assert [
        {k: d.metadata[k] for k in ("one", "two words", "three") if k in d.metadata} for d in read
    ] == [row for row in wanted if row]
    assert [d.text for d in read] == [
        "\n".join(f"{k}: {v}" for k, v in row.items()) for row in wanted if row
    ]


def test_rows_are_named_by_their_line_or_by_a_column_and_known_by_their_columns(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('code;name;note\n\na1;Ada;"two\nlines"\nb2;Bob;\na1;Again;x\n;Nobody;y\n')
    head, *read = read_rows(path)
    assert (head.id, head.text, head.heading) == ("people.csv", "people", True)
    assert [(d.id, d.parent, d.metadata["line"]) for d in read] == [
        (f"people.csv#{n}", "people.csv", n) for n in (3, 5, 6, 7)
    ]
    skipped = []
    assert [d.id for d in read_rows(path, id="code", skipped=skipped)][1:] == [
        "people.csv#a1",
        "people.csv#b2",
        "people.csv#row 6",
        "people.csv#row 7",
    ]
    assert [reason for _, reason in skipped] == [
        "read under its number: its code 'a1' came before",
        "read under its number: its code is missing",
    ]
    with pytest.raises(ValueError, match="row 6: its code 'a1' came before"):
        list(read_rows(path, id="code"))

    context = Index.from_documents(tmp_path, splitter=Splitter()).ask(
        "Who has lines?", where={"name": "Ada"}
    )
    assert [(item.id, item.heading) for item in context] == [("people.csv#3", "people")]


def test_rows_that_do_not_fit_are_read_with_what_is_there_and_said(tmp_path):
    (tmp_path / "r.tsv").write_text("a\tb\tb\t\n1\t2\t3\t4\n5\n1\t2\t3\t4\t6\n")
    (tmp_path / "q.csv").write_text('a,b\n1,2\n"3" x,4\n5,6\n')
    found = load_documents(tmp_path)
    assert {d.id: d.text for d in found.documents if not d.heading} == {
        "q.csv#2": "a: 1\nb: 2",
        "q.csv#3": "a: 3 x\nb: 4",
        "q.csv#4": "a: 5\nb: 6",
        "r.tsv#2": "a: 1\nb: 2\nb (3): 3\ncolumn 4: 4",
        "r.tsv#3": "a: 5",
        "r.tsv#4": "a: 1\nb: 2\nb (3): 3\ncolumn 4: 4\ncolumn 5: 6",
    }
    reasons = [(path.rpartition("/")[2], reason) for path, reason in found.skipped]
    assert reasons[0][0] == "q.csv#3"
    assert reasons[0][1].startswith("read with what is there: no row of CSV (")
    assert reasons[1:] == [
        ("r.tsv#3", "read with what is there: a row of 1 values for 4 columns"),
        ("r.tsv#4", "read with what is there: a row of 5 values for 4 columns"),
    ]


@pytest.mark.parametrize(
    ("broken", "values"),
    [
        ('b,"he said" and left', ["b", "he said and left"]),
        ('b,"he said', ["b", "he said"]),
        ('b,"he said, and left', ["b", "he said, and left"]),
        ('"b, c",""he"" said', ["b, c", 'he"" said']),
        ('b,"', ["b"]),
    ],
)
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("place", [0, 1, 5])
def test_a_stray_quote_costs_no_other_row(tmp_path, broken, values, quoting, place):
    others = [[f"n{i}", f"Ferry {i}, at\nnoon." if i == 3 else f"at {i}"] for i in range(5)]
    lines = []
    for row in [["name", "note"], *others]:
        csv.writer(cell := io.StringIO(newline=""), quoting=quoting).writerow(row)
        lines.append(cell.getvalue())
    (tmp_path / "t.csv").write_bytes(
        "".join([*lines[: place + 1], f"{broken}\r\n", *lines[place + 1 :]]).encode()
    )
    found = load_documents(tmp_path)
    rows = [[d.metadata.get(key) for key in ("name", "note")] for d in found.documents[1:]]
    wanted = [*others[:place], values, *others[place:]]
    assert [[value for value in row if value] for row in rows] == wanted
    lengths = [1 + row[-1].count("\n") for row in wanted]
    assert [d.metadata["line"] for d in found.documents[1:]] == [
        2 + sum(lengths[:i]) for i in range(len(wanted))
    ]
    ((where, why),) = found.skipped
    assert (where.rpartition("#")[2], why[:5]) == (
        str(found.documents[1 + place].metadata["line"]),
        "read ",
    )


def test_names_of_columns_with_a_stray_quote_are_read_and_said(tmp_path):
    (tmp_path / "t.csv").write_text('name,"note" x\na,b\n')
    found = load_documents(tmp_path)
    assert [d.text for d in found.documents] == ["t", "name: a\nnote x: b"]
    assert "read as the names of columns: no row of CSV" in found.skipped[0][1]


def test_objects_of_json_and_its_lines_are_rows(tmp_path):
    records = [
        {"name": "Ada", "born": {"year": 1815, "in": None}, "tags": ["a", 2], "alive": False},
        {"name": "Bob", "of": [{"x": 1}]},
    ]
    (tmp_path / "a.jsonl").write_text(
        "\n".join([json.dumps(records[0]), "", "nonsense", "[1]", json.dumps(records[1])])
    )
    (tmp_path / "b.json").write_text(json.dumps(records, indent=1))
    (tmp_path / "c.json").write_text('{"one": "object"}')
    (tmp_path / "d.json").write_text('[{"cut": ')
    (tmp_path / "e.csv").write_text("only a line of text")
    found = load_documents(tmp_path)
    texts = {d.id: d.text for d in found.documents if not d.heading}
    ada, bob = "name: Ada\nborn.year: 1815\ntags: a, 2\nalive: false", 'name: Bob\nof: [{"x": 1}]'
    assert texts == {
        "a.jsonl#1": ada,
        "a.jsonl#5": bob,
        "b.json#1": ada,
        "b.json#2": bob,
        "c.json": '{"one": "object"}',
        "d.json": '[{"cut": ',
        "e.csv": "only a line of text",
    }
    assert next(d.metadata["born.year"] for d in found.documents if d.id == "a.jsonl#1") == 1815
    said = [(path.rpartition("/")[2], reason.partition(":")[0]) for path, reason in found.skipped]
    assert said == [
        ("a.jsonl#3", "not JSON"),
        ("a.jsonl#4", "not an object but a list"),
        ("d.json", "read as text"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_within_a_value_end_as_in_any_other_text(tmp_path, end):
    note = f"High at ten.{end}Low at four."
    (tmp_path / "a.csv").write_bytes(f'bay,note{end}Fundy,"{note}"{end}'.encode())
    (tmp_path / "b.json").write_text(json.dumps([{"bay": "Fundy", "note": note}]))
    (tmp_path / "c.jsonl").write_text(json.dumps({"bay": "Fundy", f"note{end}": [note, 1]}))
    rows = [d for d in load_documents(tmp_path).documents if not d.heading]
    expected = "bay: Fundy\nnote: High at ten.\nLow at four."
    assert [d.text for d in rows] == [expected, expected, f"{expected}, 1".replace("e:", "e\n:")]
    assert rows[0].metadata["note"] == rows[1].metadata["note"] == "High at ten.\nLow at four."
    first, last = rows[0].source_map.lines_of(expected, (0, len(expected)))
    assert (first, last) == (2, 3)


YEARS = [{"year": 1900 + i, "range": f"{i / 7:.3f}", "code": hex(48879 * i)} for i in range(60)]
BAYS = ("Fundy", "Ungava", "Sant Malo")


def csv_of(rows):
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def test_a_table_of_numbers_is_one_document_that_its_columns_and_numbers_find(tmp_path):
    unit = [{**row, "range": f"{row['range']} metres"} for row in YEARS]
    written = {
        "years.csv": csv_of(YEARS),
        "unit.csv": csv_of(unit),
        "years.json": json.dumps(YEARS),
        "years.jsonl": "\n".join(map(json.dumps, YEARS)),
        "pairs.json": json.dumps([[1, 2.5]] * 60),
        "pairs.jsonl": "[1, 2.5]\n" * 60,
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text)
        alone = load_documents(tmp_path / name)
        assert [(d.id, d.text) for d in alone.documents] == [
            (name, text.replace("\r\n", "\n")),
        ]
    found = load_documents(tmp_path)
    assert [d.id for d in found.documents] == sorted(written)
    assert not found.skipped

    index = Index.from_documents(tmp_path / "years.csv", splitter=Splitter(tokens=64))
    item = index.ask("the tidal range in 1931", limit=1).items[0]
    assert "1931,4.429," in item.text
    assert (item.heading, item.lines[0]) == ("years: year, range, code", 33)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_with_words_of_their_own_are_documents_however_many_numbers_they_have(tmp_path, form):
    named = [{**row, "bay": BAYS[i % 3]} for i, row in enumerate(YEARS)]
    noted = [{**row, "note": "" if i % 4 else f"by {BAYS[0]}"} for i, row in enumerate(YEARS)]
    few = YEARS[:9]
    for rows in (named, noted, few):
        text = csv_of(rows) if form == "csv" else "\n".join(map(json.dumps, rows))
        path = tmp_path / f"t.{form}"
        path.write_text(text)
        assert len(load_documents(path).documents) == 1 + len(rows)
    path.write_text(csv_of(YEARS) if form == "csv" else "\n".join(map(json.dumps, YEARS)))
    rows = list(read_rows(path))  # asks for rows
    assert [row.metadata["year"] for row in rows[1:]] == [
        str(row["year"]) if form == "csv" else row["year"] for row in YEARS
    ]


def test_a_row_that_is_too_long_is_cut_between_its_columns(tmp_path):
    (tmp_path / "w.csv").write_text(
        "\n".join(
            ",".join(f"{word} {i}" for i in range(40)) for word in ("column", "some value. No end")
        )
    )
    _, document = load_documents(tmp_path).documents
    pieces = Splitter(64)(document)
    assert len(pieces) > 2
    assert [line for piece in pieces for line in piece.text.split("\n")] == document.text.split(
        "\n"
    )


def test_a_big_table_is_read_row_by_row(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + '"never closed')
    stream = read_rows(path)
    assert [next(stream).id for _ in range(51)][-1] == "big.csv#51", (
        "what comes first is given before the rest is read"
    )
    with pytest.raises(ValueError, match="row 52: no row of CSV"):
        list(stream)


@pytest.mark.parametrize("begin", ["sep=;", '"sep=;"', "sep=|", "\ufeffsep=;"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_first_line_that_names_the_delimiter_is_no_row(tmp_path, begin, end):
    sign = "|" if "|" in begin else ";"
    lines = [begin, *(sign.join(row) for row in (("Brot", "Preis"), ("Rye", "1,50"), ("Oat", "2")))]
    (tmp_path / "a.csv").write_text(end.join(lines), encoding="utf-8", newline="")
    loaded = load_documents(tmp_path)
    assert [document.text for document in loaded.documents[1:]] == [
        "Brot: Rye\nPreis: 1,50",
        "Brot: Oat\nPreis: 2",
    ]
    assert [document.id for document in loaded.documents[1:]] == ["a.csv#3", "a.csv#4"]
    assert loaded.skipped == []


@pytest.mark.parametrize("indent", [None, 1])
def test_letters_of_json_that_are_escapes_are_found(tmp_path, indent):
    value = {"café": "Die Fähre nach 京都 \\u00e4 \n ☃ 😀", "list": [{"a": "\u2028ж"}]}
    (tmp_path / "a.json").write_text(json.dumps(value, indent=indent))
    (document,) = load_documents(tmp_path).documents
    assert json.loads(document.text) == value
    written = json.dumps(value, indent=indent, ensure_ascii=False)
    assert document.text == written.replace("\u2028", "\\u2028")
    index = Index.from_documents([tmp_path, "The market opens at nine.", "The pier is shut."])
    assert index.ask("Wohin fährt die Fähre?", limit=1).items[0].document == "a.json"


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl"])
def test_a_file_that_goes_while_it_is_read_gives_what_was_there(tmp_path, name, monkeypatch):
    path = tmp_path / name
    path.write_text({"a.csv": "n\n1 a\n", "a.json": '[{"n": "1 a"}]'}.get(name, '{"n": "1 a"}\n'))
    whole_text = SourceFile.text

    def text_and_delete(file):
        path.unlink()
        return whole_text(file)

    monkeypatch.setattr(SourceFile, "text", text_and_delete)
    assert [one.text for one in load_documents(tmp_path).documents] == ["a", "n: 1 a"]
