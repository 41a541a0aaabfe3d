"""A comparison asks every question as it says, and its figures are those of the contexts it got."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from clew import recipes
from clew.context import Context
from clew.generate import Reports
from clew.measure import Benchmark, build_table, compare, compare_folder
from clew.types import Method


@dataclass(frozen=True)
class Watched:
    """A method that writes down what it is asked, and answers as another does."""

    method: Method
    name: str

    def on(self, graph):
        inner = self.method.on(graph)

        def answer(query, budget):
            ASKED.append((query.text, query.limit, budget))
            return inner(query, budget)

        return answer


ASKED: list[tuple[str, int | None, int]] = []


@pytest.fixture
def opened(folder, embed):
    (folder.path / "toklen.json").write_text("[9, 10, 14, 30, 6]")
    return Benchmark.open(folder.triples().path, embedder=embed)


def test_every_limit_and_every_budget_is_asked_for_by_itself(opened):
    ASKED.clear()
    compare(
        opened,
        {"dense": "dense", "own": Watched(recipes.get("mmr"), "own")},
        ks=(1, 3),
        budgets=(40, 60),
        samples=10,
    )
    unlimited = 2**31 - 1
    for question in opened.questions:
        of_one = [(limit, budget) for text, limit, budget in ASKED if text == question.text]
        # the last is the ranking that the reference count cuts: four passages could fit in 60 tokens, and one more will not
        assert of_one[-5:] == [
            (1, unlimited),
            (3, unlimited),
            (None, 40),
            (None, 60),
            (5, unlimited),
        ]
    assert len(ASKED) == 3 * 5 + 1  # one more before the clock runs


def test_the_figures_are_those_of_the_contexts(opened):
    index = opened.index()
    found = compare(opened, ["dense", "bm25"], ks=(1, 3), budgets=(40, 60), samples=10, index=index)
    lengths = {"a": 9, "b": 10, "c": 14, "d": 30, "e": 6}
    for recipe in ("dense", "bm25"):
        for k in (1, 3):
            ids = [
                set(index.ask(q.text, recipe=recipe, budget=None, limit=k).ids)
                for q in opened.questions
            ]
            hits = [
                len(i & set(q.gold)) / len(q.gold)
                for i, q in zip(ids, opened.questions, strict=True)
            ]
            assert found.mean(recipe, f"R@{k}") == pytest.approx(np.mean(hits))
            assert found.mean(recipe, f"all@{k}") == pytest.approx(
                np.mean([hit == 1 for hit in hits])
            )
        ranks = []
        for question in opened.questions:
            best = index.ask(question.text, recipe=recipe, budget=None, limit=3)
            ids = [item.id for item in sorted(best, key=lambda item: -item.score)]
            ranks.append(
                max([1 / (i + 1) for i, id in enumerate(ids) if id in question.gold], default=0)
            )
        assert found.mean(recipe, "MRR@3") == pytest.approx(np.mean(ranks))
        for budget in (40, 60):
            rendered, reference = [], []
            for question in opened.questions:
                context = index.ask(question.text, recipe=recipe, budget=budget)
                rendered.append(sum(id in context.ids for id in question.gold) / len(question.gold))
                left, fitting = budget, []
                ranked = index.ask(question.text, recipe=recipe, budget=None, limit=5)
                for item in sorted(ranked, key=lambda item: -item.score):
                    left -= lengths[item.id]
                    fitting += [item.id] if left >= 0 else []
                    if left < 0:
                        break
                reference.append(sum(id in fitting for id in question.gold) / len(question.gold))
            assert found.mean(recipe, f"R@{budget} tokens") == pytest.approx(np.mean(rendered))
            assert found.mean(recipe, f"R@{budget} reference") == pytest.approx(np.mean(reference))


def test_the_baseline_is_measured_though_it_is_not_named_and_stands_first(opened):
    found = compare(opened, ["bm25"], ks=(2,), budgets=(), samples=10)
    assert list(found.methods) == ["dense", "bm25"]
    assert found.methods["bm25"] == repr(recipes.get("bm25"))
    assert [one.title for one in found.tables] == ["By score"]
    with pytest.raises(ValueError, match="unknown recipe 'sparse'"):
        compare(opened, ["bm25"], baseline="sparse")


def test_without_reference_lengths_there_is_no_reference_table(folder, embed):
    found = compare(Benchmark.open(folder.path, embedder=embed), ["dense"], samples=10)
    assert [one.title for one in found.tables] == [
        "By score",
        "In the rendered context, tokens by the index's counter",
    ]


def test_a_budget_that_holds_nothing_counts_as_nothing_found_and_is_said(opened):
    found = compare(opened, ["dense"], ks=(1,), budgets=(2, 60), samples=10)
    assert found.mean("dense", "R@2 tokens") == 0
    assert found.mean("dense", "R@60 tokens") > 0
    assert (
        "dense gave no context for 3 questions at 2 tokens; the first time: a budget of 2 tokens holds none"
        in found.to_markdown()
    )


@dataclass(frozen=True)
class Broken:
    """A method with a fault that shows under a budget."""

    def on(self, graph):
        inner = recipes.get("dense").on(graph)

        def answer(query, budget):
            return inner(query, budget) if budget > 10**6 else recipes.get("nothing")

        return answer


def test_a_fault_of_a_method_is_not_taken_for_a_small_budget(opened):
    with pytest.raises(ValueError, match="unknown recipe 'nothing'"):
        compare(opened, {"dense": "dense", "broken": Broken()}, ks=(), budgets=(60,))


def test_figures_of_ones_own_make_a_table_and_another_can_be_put_behind(opened):
    def items(context: Context, question):
        return float(len(context))

    found = compare(
        opened, ["dense", "bm25"], ks=(), budgets=(40, 60), samples=10, figures={"items": items}
    )
    own = found.tables[-1]
    assert own.figures == ("items@40 tokens", "items@60 tokens")
    assert found.mean("dense", "items@60 tokens") >= found.mean("dense", "items@40 tokens") >= 1
    more = build_table(
        "Density",
        {"dense": {"density": [0.1, 0.2, 0.3]}, "bm25": {"density": [0.1, 0.2, 0.4]}},
        "dense",
        samples=10,
    )
    assert found.with_table(more).mean("bm25", "density") == pytest.approx(0.7 / 3)
    with pytest.raises(ValueError, match="the table is of bm25, dense; wanted dense, bm25"):
        found.with_table(
            build_table("Density", {"bm25": {"x": [1.0]}, "dense": {"x": [1.0]}}, "dense")
        )


def test_one_call_opens_and_compares_a_folder_and_says_the_same_again(folder):
    first, again = (
        compare_folder(folder.path, ["bm25", "dense"], ks=(1, 2), budgets=(40,), samples=50, seed=4)
        for _ in range(2)
    )
    said, repeated = first.to_dict(), again.to_dict()
    assert (
        said.pop("milliseconds").keys() == repeated.pop("milliseconds").keys() == {"bm25", "dense"}
    )
    assert json.loads(json.dumps(said)) == repeated
    assert said["tables"][0]["methods"]["bm25"]["R@2"]["mean"] == first.mean("bm25", "R@2")
    text = first.to_markdown(intervals=True)
    assert text.startswith("3 questions. Benchmark(")
    assert "| method | R@1 | R@2 | all@1 | all@2 | MRR@2 | ms |" in text
    assert "(bootstrap over questions, 50 samples, seed 4), each by itself" in text
    assert "Note: 3 questions are too few for intervals to be trusted." in text


def test_an_extractor_reads_the_facts_in_the_place_of_the_folders(folder):
    def shouts(text):
        return [(text.partition("\n")[0], "shouts", text.split()[-1].upper())]

    found = compare_folder(folder.path, ["hipporag"], ks=(1,), budgets=(), extractor=shouts)
    assert "5 facts" in found.index
    assert any(note.startswith("the facts were read by <function") for note in found.notes)
    without = compare_folder(
        folder.path, ["hipporag"], ks=(1,), budgets=(), facts="none", vectors=False
    )
    (fell_back,) = without.notes[1:]
    assert fell_back.startswith("hipporag, for 3 of 3 questions: the graph has no facts")


def test_recipes_are_measured_with_what_is_written_about_the_passages(folder):
    def reports(context: Context, question):
        return float(sum(item.kind == "report" for item in context))

    how = {
        "ks": (5,),
        "budgets": (400,),
        "facts": "none",
        "figures": {"reports": reports},
        "samples": 10,
    }
    written = (Reports(min_passages=1, tokens=30),)
    found = compare_folder(folder.path, ["enterprise"], vectors=False, generators=written, **how)
    assert found.mean("enterprise", "reports@400 tokens") > 0
    assert found.mean("dense", "reports@400 tokens") == 0  # a report is no passage
    assert "report" in found.index
    assert f"written about the passages: {written[0]!r}" in found.notes
    assert (
        compare_folder(folder.path, ["enterprise"], vectors=False, **how).mean(
            "enterprise", "reports@400 tokens"
        )
        == 0
    )
    folder.triples().vectors()
    with pytest.raises(
        RuntimeError, match="texts that are not the benchmark's own need an embedder"
    ):
        compare_folder(folder.path, ["enterprise"], generators=written, **how)


def test_what_cannot_be_measured_is_refused(opened):
    with pytest.raises(ValueError, match="at least one method"):
        compare(opened, [])
    with pytest.raises(TypeError, match="names of recipes in a list"):
        compare(opened, "dense")
    with pytest.raises(ValueError, match=r"budgets are whole numbers of at least 1, got \(0,\)"):
        compare(opened, ["dense"], budgets=(0,))
    with pytest.raises(ValueError, match="at least one of ks and budgets"):
        compare(opened, ["dense"], ks=(), budgets=())
