"""Names of version 0.1 that the README and the examples showed: they work, and say what they are called now."""

from __future__ import annotations

import pytest

import clew
from clew import Index, cite


@pytest.mark.parametrize("name", clew.DEPRECATED)
def test_a_name_of_the_package_warns_and_is_the_new_one(name):
    module, _, attribute = clew.DEPRECATED[name].rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"clew.{name} is now {clew.DEPRECATED[name]}"):
        found = getattr(clew, name)
    new = __import__(module, fromlist=["_"])
    assert found is getattr(new, attribute)


@pytest.mark.parametrize(("old", "new"), [("cited", "citations"), ("quoted", "quotes")])
def test_a_function_of_citing_warns_and_is_the_new_one(old, new):
    with pytest.warns(DeprecationWarning, match=f"clew.cite.{old} is now clew.cite.{new}"):
        assert getattr(cite, old) is getattr(cite, new)


def test_texts_are_generated_by_the_old_name_too():
    index = Index.from_documents(["Anna paints.", "Ben sleeps."])
    with pytest.warns(DeprecationWarning, match="now Index.generate"):
        assert index.written().graph.ids == index.generate().graph.ids


@pytest.mark.parametrize("module", [clew, cite])
def test_a_name_that_never_was_is_missing(module):
    with pytest.raises(AttributeError, match="nothing_like_it"):
        module.nothing_like_it  # noqa: B018  # looking it up is what is tested
