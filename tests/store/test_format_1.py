"""Indexes that an earlier version saved, in format 1, open after it and answer as they did then.

The archives were made by that version. `ids.json` has the ids and scores that it answered with, by
index, and by recipe and question, but for two answers of which ties decide. Passages of equal scores
may come in another order now. Answers are compared by the recipes that are still defined as then.
"""

from __future__ import annotations

import json
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from clew import Index, Names, Plain, Splitter, generate, link, read, recipes
from clew.generate import Reports, Summaries
from clew.store.format_1 import CLASSES, FIELDS, upgrade_record
from clew.store.manifest import generations, read_manifest

FOLDER = Path(__file__).parent / "format_1"
ANSWERS = json.loads((FOLDER / "ids.json").read_text(encoding="utf-8"))


UNCHANGED = ("dense", "mmr")  # the others count words by their stems now


def count_words(text):
    return len(text.split())


SPLITTER = Splitter(9, count=count_words)


def opened(name, folder, embed):
    """Return the index of an archive."""
    parts = {} if name == "headings" else {"embedder": embed}
    if name == "own_counter":
        count_words.__module__ = "tests.store.test_format_1"
        parts |= {"count": count_words, "splitter": SPLITTER}
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as archive:
        archive.extractall(folder)
    return Index.load(folder, verify="full", **parts)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_index_of_format_1_answers_as_it_did(embed, tmp_path, name):
    index = opened(name, tmp_path, embed)
    for asked, answer in ANSWERS[name].items():
        recipe, _, question = asked.partition(": ")
        if recipe not in recipes.names():
            continue
        context = index.ask(question, recipe=recipe)
        known = {*index.graph.ids, *(item.id for item in context if item.role == "fact")}
        assert {item.id for item in context} <= known, asked
        if recipe not in UNCHANGED:
            continue
        before = dict(answer)
        now = {item.id: float(item.score) for item in context}
        assert now == pytest.approx(before, abs=1e-4), asked
        order = list(now)
        for one, other in pairwise(before):
            if before[one] - before[other] > 1e-4:
                assert order.index(one) < order.index(other), asked


def test_the_parts_of_format_1_have_the_names_of_this_version(embed, tmp_path):
    index = opened("facts", tmp_path / "facts", embed)
    assert index.links == (
        link.Contains(),
        link.Next(),
        link.Mentions(),
        link.Fact(),
        link.Hyperlink(),
        link.Shared(10),
        link.Similar(3, 0.2),
        link.Synonym(0.7, 20, 2),
        link.ShortForm(0.5, 2),
        link.Related(20),
        link.Alike(2),
    )
    index = opened("headings", tmp_path / "headings", embed)
    assert index.fitted
    assert isinstance(index.extractor, Names)
    assert index.config.canonical == Plain()
    assert index.splitter == Splitter(16, sentences=True)
    assert [type(generator) for generator in index.generators] == [Reports, Summaries]
    assert index.generators[0].level is None
    assert len(opened("learned", tmp_path / "learned", embed).learned) == 12


@pytest.mark.parametrize("name", ["facts", "headings", "learned"])
def test_an_index_of_format_1_can_be_changed_and_is_saved_in_this_format(embed, tmp_path, name):
    index = opened(name, tmp_path, embed)
    changed = index.delete("cleo")
    changed.save(tmp_path)
    formats = {
        generation: json.loads(file.read_bytes())["index"]["format"]
        for generation, file in generations(tmp_path).items()
    }
    assert formats == {2: 2, 1: 1}
    again = Index.load(tmp_path, embedder=None if name == "headings" else embed, verify="full")
    assert again.graph.ids == changed.graph.ids
    assert again.links == changed.links
    question = "Who lives in Corfu?"
    assert again.ask(question, budget=120).text == changed.ask(question, budget=120).text


def test_a_part_of_ones_own_that_format_1_names_must_be_the_same(embed, tmp_path):
    opened("own_counter", tmp_path, embed)
    with pytest.raises(ValueError, match=r"splitter=Splitter\(tokens=9.*; Splitter\(tokens=8"):
        Index.load(
            tmp_path, embedder=embed, count=count_words, splitter=Splitter(8, count=count_words)
        )


def test_the_table_names_what_there_is():
    for old, fields in FIELDS.items():
        name = CLASSES.get(old, old)
        home = next(home for home in (generate, link, read) if hasattr(home, name))
        assert set(fields.values()) <= set(getattr(home, name).__dataclass_fields__), name


def test_the_name_of_a_part_of_ones_own_is_upgraded_too():
    record = {"name": "Similar(k=3, least=0.2, kinds=('least=', <f>))", "corpus_wide": True}
    assert upgrade_record(record)["name"] == (
        "Similar(k=3, min_similarity=0.2, kinds=('least=', <f>))"
    )
    assert upgrade_record({"name": "Facts()"})["name"] == "Fact()"
    assert upgrade_record({"name": "Own(least=2)"})["name"] == "Own(least=2)"


def test_the_settings_of_the_first_versions_had_no_extractor(embed, tmp_path):
    opened("facts", tmp_path, embed)
    manifest = read_manifest(tmp_path / "MANIFEST-00000001.json")
    assert set(manifest.settings["config"]) == {
        "splitter",
        "extractor",
        "canonical",
        "links",
        "generators",
        "count",
    }
