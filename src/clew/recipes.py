"""Every method as one named value."""

from __future__ import annotations

from clew.order import ByPrize
from clew.pipeline import Pipeline
from clew.seed import BM25 as BM25Seed
from clew.seed import Blend, Dense, LinkedFacts
from clew.select import MMR as Diverse
from clew.select import Top
from clew.spread import PageRank
from clew.stage import Method

DENSE = Pipeline(Dense(), selects=(Top(),), order=ByPrize())
BM25 = Pipeline(BM25Seed(), selects=(Top(),), order=ByPrize())
FUSED = Pipeline(Blend(), selects=(Top(),), order=ByPrize())
MMR = Pipeline(Dense(), selects=(Diverse(),), order=ByPrize())
HIPPORAG = Pipeline(
    LinkedFacts(),
    (PageRank(0.5, (("fact", 1.0), ("mentions", 0.5), ("synonym", 1.0), ("similar", 0.5), ("next", 0.5))),),
    (Top(),),
    order=ByPrize(),
)


def names() -> list[str]:
    """Return the names of all recipes, in the order of this page."""
    return [name.lower() for name, value in globals().items() if name.isupper() and hasattr(value, "on")]


def get(recipe: str | Method) -> Method:
    """Return the method of that name; a method is returned as it is."""
    if not isinstance(recipe, str):
        if not hasattr(recipe, "on"):
            raise TypeError(f"a recipe is a name or a method with on(graph), not a {type(recipe).__name__}")
        return recipe
    if recipe.lower() not in names():
        raise ValueError(f"unknown recipe {recipe!r}; known: {', '.join(names())}")
    method: Method = globals()[recipe.upper()]
    return method
