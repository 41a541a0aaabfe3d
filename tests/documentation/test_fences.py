"""What is code or data is shown in a fence, by the name of its file or by its looks; prose is not."""

from __future__ import annotations

import pytest

import clew
from clew.documentation import write_documentation
from clew.documentation.fences import language_of

SQL = "SELECT customer, COUNT(*) AS n\nFROM orders\nGROUP BY customer\nHAVING COUNT(*) >= 2;\n"
VERSE = "The tide runs out;\nthe boats lie still,\nand on the hill\na bell is heard."
LIST = "What to bring:\n\n- two lamps (and oil)\n- a rope\n- bread; butter; tea\n- a map of the coast\n"
LETTER = (
    "Dear Anna,\n\nthe harbour froze over.\nWe mend nets, and wait;\nit cannot last.\n\nYours,\nBen"
)
PROGRAM = "int total = 0;\nfor (int i = 0; i < n; i++) {\n    total += i;\n}\nreturn total;\n"
SETTINGS = "name = lamp\ncolour = red\n[oil]\nlitres = 2\n"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a.sql", "sql"),
        ("A.YML", "yaml"),
        ("x/Makefile", "make"),
        ("run.sh", "sh"),
        ("old.py", "python"),
        ("Dockerfile", "dockerfile"),
    ],
)
def test_by_the_name_of_the_file(name, wanted):
    assert language_of(clew.Document(name, "Plain words.", {"file_name": name})) == wanted
    assert language_of(clew.Document(name, "Plain words.", {"path": f"C:\\work\\{name}"})) == wanted
    assert (
        language_of(clew.Document(name, "Plain words.", {"file_name": name}, format="markdown"))
        == "markdown"
    )


@pytest.mark.parametrize("text", [PROGRAM, SETTINGS, "<ul>\n<li>\nlamp\n</li>\n</ul>"])
def test_by_its_looks(text):
    assert language_of(clew.Document("a", text)) == ""


@pytest.mark.parametrize(
    "text", [VERSE, LIST, LETTER, "One line; it ends so;", "", "السوق القديم\nيبيع التوابل\nكل يوم"]
)
def test_prose_is_prose(text):
    assert language_of(clew.Document("a", text)) == "text"
    assert language_of(clew.Document("a", text, {"file_name": "a.txt"})) == "text"
    assert language_of(None) == "text"


def test_a_page_shows_it_as_it_stands(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in {
        "orders.sql": SQL,
        "verse.txt": VERSE,
        "prices.csv": "item,price\nlamp,12.5\noil,3\nwick,1\n",
    }.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    made = write_documentation(
        clew.Index.from_documents(tmp_path / "in", splitter=clew.Splitter()), coverage=1
    )
    made.save(tmp_path / "out")
    pages = {
        file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "out").glob("*.md")
    }
    assert f"```sql\n{SQL}```" in pages["1-orders.md"]
    assert "```\nitem: lamp\nprice: 12.5\n```" in pages["2-prices.md"]
    assert "```" not in pages["3-verse.md"]
