"""The table of recipes: what every entry says, and how a name becomes a method."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

import clew
from clew import recipes
from clew.recipes import DEFAULT, DEPARTURES, RECIPES

PUBLISHED = [name for name in RECIPES if name.endswith("_paper")]


def test_names_are_those_of_the_table_and_published_settings_come_last():
    names = recipes.names()
    assert names == list(RECIPES)
    assert DEFAULT in names
    assert names[-len(PUBLISHED) :] == PUBLISHED


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_says_what_it_does_and_when_to_choose_it(name):
    recipe = RECIPES[name]
    assert name == name.lower()
    assert recipe.summary[0].isupper()
    assert not recipe.summary.endswith(".")
    assert recipe.when
    assert recipes.get(name) is recipes.get(name.upper()) is recipe.method


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_setting_names_its_source_and_what_the_tuned_recipe_changes(name):
    assert RECIPES[name].source
    tuned = [
        other
        for other, recipe in RECIPES.items()
        if recipe.source == RECIPES[name].source and other not in PUBLISHED
    ]
    assert tuned
    assert DEPARTURES[name]
    assert all(RECIPES[other].method != RECIPES[name].method for other in tuned)


def test_departures_are_of_published_settings_alone():
    assert list(DEPARTURES) == PUBLISHED


def test_an_unknown_name_is_refused_with_the_known_ones_and_a_method_is_returned_as_it_is():
    with pytest.raises(
        ValueError, match=r"unknown recipe 'delicious'; known: dense, bm25, .*_paper"
    ):
        recipes.get("delicious")
    with pytest.raises(TypeError, match=r"a method with on\(graph\), not a int"):
        recipes.get(3)
    with pytest.raises(TypeError, match=r"and Pipeline a class: give Pipeline\(\.\.\.\)"):
        recipes.get(clew.Pipeline)
    with pytest.raises(TypeError, match=r"of a Recipe give \.method"):
        recipes.get(RECIPES["dense"])
    method = recipes.get("dense")
    assert recipes.get(method) is method


def test_a_recipe_is_found_by_the_name_that_it_was_added_under(monkeypatch):
    method = clew.Pipeline(clew.seed.BM25(), order=clew.order.ByPrize())
    monkeypatch.setitem(RECIPES, "OurDocs", recipes.Recipe(method, "By words"))
    assert recipes.get("OurDocs") is recipes.get("ourdocs") is recipes.get("OURDOCS") is method
    monkeypatch.setitem(RECIPES, "bare", method)
    with pytest.raises(TypeError, match=r"clew.Recipe\(method, summary\); under 'bare' there is a"):
        recipes.get("bare")


@dataclass
class Halving:
    """A stage of the caller's that is not frozen, so that it has no hash."""

    factor: float = 0.5

    def on(self, graph):
        return lambda query, seeds, prizes: prizes * self.factor


class Quoting:
    """A method of the caller's that answers with a text."""

    def on(self, graph):
        return lambda query, budget: query.text


def test_a_method_that_an_index_cannot_keep_or_that_gives_no_context_is_refused():
    index = clew.Index.from_documents(["Anna met Ben."])
    method = clew.Pipeline(clew.seed.BM25(), (Halving(),), order=clew.order.ByPrize())
    with pytest.raises(TypeError, match=r"frozen=True\).* has an unhashable type: 'Halving'$"):
        index.ask("Who met Ben?", recipe=method)
    with pytest.raises(TypeError, match=r"with a clew.Context; Quoting answered with a str$"):
        index.ask("Who met Ben?", recipe=Quoting())


def test_a_method_is_made_once_and_a_recipe_is_a_value():
    made = []

    def make():
        made.append(clew.Pipeline(clew.seed.BM25(), order=clew.order.ByPrize()))
        return made[-1]

    recipe = recipes.Recipe.made_by(make, "By words", when="always")
    assert (recipe.summary, recipe.source, recipe.when, made) == ("By words", "", "always", [])
    with ThreadPoolExecutor(8) as threads:
        methods = list(threads.map(lambda _: recipe.method, range(64)))
    assert all(method is recipe.method for method in methods)
    written_out = recipes.Recipe(made[0], "By words", when="always")
    assert recipe == written_out
    assert hash(recipe) == hash(written_out)
    assert repr(recipe) == repr(written_out)
    fresh = recipes.Recipe.made_by(make, "By words", when="always")
    assert pickle.loads(pickle.dumps(fresh)) == copy.copy(fresh) == written_out
    assert replace(fresh, when="never") == replace(written_out, when="never")
    with pytest.raises(AttributeError, match="a recipe has no 'methods'"):
        _ = recipe.methods
