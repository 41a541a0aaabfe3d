"""A file of Word is read with its headings, lists, tables and links, and says why where it is not."""

from __future__ import annotations

import io
import zipfile

import pytest

from clew import Index
from clew.read import load_documents
from clew.read.formats import file_format

pytest.importorskip("mammoth", reason="needs the extra word")

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = {"Title": "Title", "Heading1": "heading 1", "Heading2": "heading 2"}


def paragraph(text, style=None, properties=""):
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{style}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows):
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def item(text):
    return paragraph(text, None, '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')


def link(text):
    return f'<w:p><w:hyperlink r:id="rId9"><w:r><w:t>{text}</w:t></w:r></w:hyperlink></w:p>'


def written(*blocks):
    """The bytes of a file of Word with these blocks, part by part as the standard has them."""
    kinds = [
        ("word/document.xml", "wordprocessingml.document.main"),
        ("word/styles.xml", "wordprocessingml.styles"),
        ("word/numbering.xml", "wordprocessingml.numbering"),
    ]
    overrides = "".join(
        f'<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
        for part, kind in kinds
    )
    relations = "".join(
        f'<Relationship Id="rId{i}" Type="{R}/{kind}" Target="{kind}.xml"/>'
        for i, kind in enumerate(("styles", "numbering"), 1)
    )
    target = (
        f'<Relationship Id="rId9" Type="{R}/hyperlink" Target="moon.md" TargetMode="External"/>'
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/></w:style>'
        for id, name in STYLES.items()
    )
    level = '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{R}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f"{relations}{target}</Relationships>",
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="0">{level}'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
        "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{"".join(blocks)}</w:body>'
        "</w:document>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in parts.items():
            packed.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return file.getvalue()


HARBOUR = written(
    paragraph("Harbour rules", "Title"),
    paragraph("Berths", "Heading1"),
    paragraph("A guest pays at the quay &amp; leaves by noon."),
    item("Boats below ten metres"),
    item("Dinghies"),
    paragraph("Fees", "Heading1"),
    table(["Length", "Fee"], ["8 m", "12 euros"]),
    link("the moon"),
)


def test_headings_lists_tables_and_links_are_read(tmp_path):
    (tmp_path / "rules.docx").write_bytes(HARBOUR)
    (tmp_path / "moon.md").write_text("# Moon\n\nIt pulls.", encoding="utf-8")
    word = next(one for one in load_documents(tmp_path).documents if one.id == "rules.docx")
    assert word.metadata["title"] == "Harbour rules"
    lines = [line for line in word.text.split("\n") if line.strip()]
    assert lines[:3] == [
        "# Harbour rules",
        "# Berths",
        "A guest pays at the quay & leaves by noon.",
    ]
    assert [line.lstrip("-* ") for line in lines[3:5]] == ["Boats below ten metres", "Dinghies"]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    assert ["Length", "Fee"] in cells
    assert ["8 m", "12 euros"] in cells
    index = Index.from_documents(tmp_path)
    (item,) = index.ask("What does a guest pay at the quay?", limit=1).items
    assert (item.location, item.lines) == ("rules.docx", None)
    assert item.heading.endswith("Berths")
    ends = {(index.graph.ids[a], index.graph.ids[b]) for a, b in links_of(index)}
    assert any(a.startswith("rules.docx") and b.startswith("moon.md") for a, b in ends)


def links_of(index):
    edges = index.graph.edges
    is_link = edges.kinds.mask("hyperlink")
    return zip(edges.tails[is_link].tolist(), edges.heads[is_link].tolist(), strict=True)


def test_files_that_cannot_be_read_say_why(tmp_path, monkeypatch):
    (tmp_path / "blank.docx").write_bytes(written())
    (tmp_path / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 nothing more")
    (tmp_path / "sheet.docx").write_bytes(zipped({"xl/workbook.xml": "<a/>"}))
    reasons = {path.rpartition("/")[2]: reason for path, reason in load_documents(tmp_path).skipped}
    assert reasons.pop("blank.docx") == "a document of Word without text"
    assert reasons.pop("old.docx").startswith("locked by a password, or written by Word 2003")
    assert {reason.partition(":")[0] for reason in reasons.values()} == {
        "not readable as a document of Word"
    }
    for cut in range(0, len(HARBOUR), 40):  # whatever is left of a file, the others are read
        (tmp_path / "cut.docx").write_bytes(HARBOUR[:cut])
        assert load_documents(tmp_path / "cut.docx").documents == []
    monkeypatch.setattr(file_format, "find_spec", lambda name: None)
    assert load_documents(tmp_path / "blank.docx").skipped[0][1].endswith("'clew[word]'")


def test_what_unpacks_to_more_than_the_memory_is_not_unpacked(tmp_path):
    (tmp_path / "bomb.docx").write_bytes(zipped({"word/document.xml": " " * 200_000_001}))
    ((_, reason),) = load_documents(tmp_path).skipped
    assert "200,000,001 bytes" in reason


def zipped(parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in parts.items():
            packed.writestr(name, text)
    return file.getvalue()
