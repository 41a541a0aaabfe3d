"""Pages of PDF files, written here by hand: what is read, and what is said of those that cannot be."""

from __future__ import annotations

import pytest

from clew import Index, Splitter
from clew.read import load_documents
from clew.read.formats import file_format, pdf

pytest.importorskip("pypdf", reason="needs the extra pdf")


def written(pages: list[list[str]], title: str = "", pictures: tuple[int, ...] = ()) -> bytes:
    """A PDF file of lines of plain letters, and a picture on some pages, by its definition."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} /MediaBox [0 0 600 800] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET"
        shown_on = f" /XObject << /I {4 + 2 * len(pages)} 0 R >>" if i + 1 in pictures else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >>{shown_on} >> /Contents {5 + 2 * i} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    form = "/Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1"
    objects.append(f"<< /Type /XObject /Subtype /Image {form} >>\nstream\n0\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, places = b"%PDF-1.4\n", []
    for i, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{i} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()


def test_a_passage_opens_at_its_page(tmp_path):
    (tmp_path / "a.pdf").write_bytes(written([["Ebb."], [], ["The flood comes in at nine."]]))
    index = Index.from_documents(tmp_path)
    index.save(tmp_path / "index")
    for each in (index, Index.load(tmp_path / "index")):
        item = each.ask("When does the flood come in?").items[0]
        assert (item.location, item.page, item.lines) == ("a.pdf#page=3", 3, None)


def test_pages_are_documents_under_their_file_with_numbers_to_cite_and_filter_by(tmp_path):
    (tmp_path / "sea.pdf").write_bytes(
        written(
            [["The tide of every har-", "bour is listed."], [], ["Lifeboats leave at high water."]],
            "Almanac",
        )
    )
    index = Index.from_documents(tmp_path, splitter=Splitter())
    assert [(d.id, d.heading, d.metadata.get("page"), d.previous) for d in index.documents] == [
        ("sea.pdf", True, None, None),
        ("sea.pdf#page=1", False, 1, None),
        ("sea.pdf#page=3", False, 3, "sea.pdf#page=1"),
    ]
    assert index.documents[1].text == "The tide of every harbour is listed."
    (item,) = index.ask("When do lifeboats leave the harbour?", where={"page": 3})
    assert (item.id, item.heading, item.text) == (
        "sea.pdf#page=3",
        "Almanac",
        "Lifeboats leave at high water.",
    )


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("a har-\nbour", "a harbour"),
        ("the well-\nknown, and well-known", "the well-known, and well-known"),
        ("the Anglo-\nSaxon", "the Anglo-Saxon"),
        ("in 1914-\n1918", "in 1914-\n1918"),
        ("a list\n- item", "a list\n- item"),
        ("soft\u00ad\nly", "softly"),
        ("Grö-\nße", "Größe"),
    ],
)
def test_words_that_a_line_cuts_are_joined(text, mended):
    assert pdf.join_cut_words(text) == mended


def test_files_that_cannot_be_read_say_why(tmp_path, monkeypatch):
    whole = written([["Words."]])
    (tmp_path / "blank.pdf").write_bytes(written([[], []]))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing more")
    (tmp_path / "empty.pdf").write_bytes(b"")
    found = load_documents(tmp_path)
    reasons = {path.rpartition("/")[2]: reason for path, reason in found.skipped}
    assert found.documents == []
    assert reasons.pop("blank.pdf") == "a PDF without text, perhaps of scanned pages"
    assert {reason.partition(":")[0] for reason in reasons.values()} == {"not readable as PDF"}
    for cut in range(0, len(whole), 40):  # whatever is left of a file, reading the others goes on
        (tmp_path / "cut.pdf").write_bytes(whole[:cut])
        load_documents(tmp_path / "cut.pdf")

    monkeypatch.setattr(file_format, "find_spec", lambda name: None)
    assert (
        load_documents(tmp_path / "blank.pdf").skipped[0][1]
        == "PDF is read by pypdf: pip install 'clew[pdf]'"
    )


def test_pages_that_are_pictures_alone_are_counted(tmp_path):
    text = ["The ferry leaves at ten."]
    (tmp_path / "a.pdf").write_bytes(written([text, [], [], text, []], pictures=(1, 2, 5)))
    (tmp_path / "b.pdf").write_bytes(written([text, []], pictures=(2,)))
    (tmp_path / "c.pdf").write_bytes(written([text, []], pictures=(1,)))
    found = load_documents(tmp_path)
    assert [(path.rpartition("/")[2], why) for path, why in found.skipped] == [
        ("a.pdf", "read, but for 2 pages that have no text, perhaps scanned"),
        ("b.pdf", "read, but for 1 page that has no text, perhaps scanned"),
    ]
    assert {one.id for one in found.documents} >= {"a.pdf#page=1", "a.pdf#page=4", "c.pdf#page=1"}
