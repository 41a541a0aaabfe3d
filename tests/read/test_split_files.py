"""Files are cut into passages without being asked; what a caller hands in stays as it was cut."""

from __future__ import annotations

import pytest

import clew
from clew.read import read_passages

PAGE = "# Ferries\n\n" + "\n\n".join(
    f"## Ferry {i}\n\n" + f"Ferry {i} sails to the island {i} at ten, and back. " * 12
    for i in range(20)
)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "ferries.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def passages(index):
    return [index.graph.texts[row] for row in index.graph.rows("passage")]


@pytest.mark.parametrize("form", [str, lambda path: path, lambda path: path.parent])
def test_a_file_is_cut_as_the_splitter_cuts_it(page, form):
    index = clew.Index.from_documents([form(page)])
    named = clew.Index.from_documents([page], splitter=clew.Splitter())
    assert passages(index) == passages(named)
    assert len(passages(index)) >= 20
    context = index.ask("Where does ferry 7 sail to?", budget=300)
    assert "island 7" in context.text
    assert context.tokens <= 300


def test_what_a_caller_hands_in_stays_whole(page):
    given = clew.Document("ferries", PAGE, {"file_name": "ferries.md"}, format="markdown")
    assert passages(clew.Index.from_documents([given])) == [PAGE]
    assert passages(clew.Index.from_documents([page], splitter=None)) == [PAGE.strip("\n")]
    assert [item.id for item in clew.narrow("Where does ferry 7 sail to?", [PAGE], budget=9999)]


def test_it_is_saved_and_what_comes_later_is_cut_too(page, tmp_path):
    clew.Index.from_documents(page.parent).save(tmp_path / "saved")
    (page.parent / "boats.md").write_text(PAGE.replace("Ferry", "Boat"), encoding="utf-8")
    index = clew.Index.load(tmp_path / "saved")
    assert index.config.splitter == clew.SplitFiles()
    assert sum("Boat" in text for text in passages(index.sync(page.parent))) >= 20


def test_an_index_that_kept_files_whole_goes_on_so(page, tmp_path):
    clew.Index.from_documents([page], splitter=None).save(tmp_path / "saved")
    (page.parent / "boats.md").write_text(PAGE.replace("Ferry", "Boat"), encoding="utf-8")
    assert len(passages(clew.Index.load(tmp_path / "saved").sync(page.parent))) == 2


def test_extractors_are_shown_the_same_passages(page):
    shown = [passage.text for passage in read_passages([page])]
    assert shown == passages(clew.Index.from_documents([page]))


def test_the_number_of_tokens_is_checked():
    with pytest.raises(ValueError, match="at least 1"):
        clew.SplitFiles(0)
