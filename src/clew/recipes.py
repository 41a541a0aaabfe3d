"""Every method as one named value."""

from __future__ import annotations

from clew import methods, order, seed, select, spread
from clew.methods.da_rag.method import DaRag
from clew.methods.router import Router
from clew.pipeline import Pipeline
from clew.types import Method

DEFAULT = "hipporag"  # with facts it finds more than `fused`, without them the same

# The passages nearest to the question by cosine.
DENSE = Pipeline(seed.Dense(), selects=(select.Top(),), order=order.ByPrize())

# The passages that hold the question's rare words.
BM25 = Pipeline(seed.BM25(), selects=(select.Top(),), order=order.ByPrize())

# Both, as a weighted mean of scaled scores.
FUSED = Pipeline(seed.Blend(), selects=(select.Top(),), order=order.ByPrize())

# Near to the question, and unlike what is read already.
MMR = Pipeline(seed.Dense(), selects=(select.MMR(),), order=order.ByPrize())

# A walk over facts, entities and passages that starts at the near facts that what the question names leads to, and at the passages like it
# (HippoRAG 2, arXiv 2502.14802; its own start, for facts that a language model has looked through, is `seed.LinkedFacts`).
HIPPORAG = Pipeline(
    seed.RecognisedFacts(),
    (spread.PageRank(0.5, (("fact", 1.0), ("mentions", 0.5), ("synonym", 0.5))),),
    (select.Top(),),
    order=order.ByPrize(),
)

# The near facts that what the question names leads to, joined by a tree of least cost and grown by influence, then the passages by
# influence, those like the question counting as much as the facts (AGRAG, arXiv 2511.05549); links between passages count a tenth beside
# facts, and are what there is to follow where there are none.
AGRAG = Pipeline(
    seed.MappedFacts(recognised=True, passage_seed=seed.Blend(), sharpness=8.0),
    (
        spread.Influence(
            passage_mode="reset",
            factor=1.0,
            kinds=(
                "fact",
                "mentions",
                "synonym",
                ("shared", 0.1),
                ("similar", 0.1),
                ("next", 0.1),
                ("contains", 0.1),
                ("hyperlink", 0.1),
            ),
            weighted=True,
        ),
    ),
    (select.MCMI(fact_share=0.1, tree_first=False),),
    order=order.FactsFirst(),
)

# Walks follow links that are read in the documents, not those that likeness of vectors makes: the seeds have compared these vectors with
# the question already, and such links lead to where many passages are alike. Without any other link a walk stays where it starts.
ALIKE = ("similar",)

# The connected passages that are worth most together within the budget, near the question or linked to what is, with a bound on what any
# others could have been worth.
BUDGETED = Pipeline(
    seed.RecognisedFacts(),
    (spread.PageRank(0.5, excluded_kinds=ALIKE),),
    (select.Budgeted(),),
    order=order.Sandwich(),
)

# Down from the root of the corpus through documents, sections, passages and sentences to what is nearest to the question, likely siblings
# fused where that changes their surroundings little; then back up while there is room (Kurisu-G2, ICLR 2026 submission 18441).
KURISU = Pipeline(
    seed.Dense(kinds=("passage", "sentence", "report")),
    selects=(methods.Descent(),),
    order=order.ByDocument(),
)

# The community around the question among chunks that relations join, in it the communities of entities, the facts that tell of these and
# the chunks; with a language model, its reports on them (DA-RAG, arXiv 2602.08545). Peeled node by node, real chunks leave loose and large
# communities; with the cascade hardly any other part of the graph is as dense and nearer to the question.
DA_RAG = DaRag(methods.CommunitySearch(cascade=True, lead=1.2, max_start_rows=10))

# Four presets, each with what the one before it has and more ("Navigating the Knowledge Web", codewarnab.in, 2026): the five nearest;
BASELINE = Pipeline(seed.Dense(), selects=(select.Top(5),), order=order.ByPrize())

# what a walk from these, the nearer the likelier, finds two hops around them; it starts again, less and less often, at the thirty nearest,
# so that a passage without links is not lost;
LIGHTWEIGHT = Pipeline(
    seed.TopSeeds(5),
    (
        spread.Power(8.0),
        spread.LocalPageRank(
            (spread.BreadthFirst(2, 50, excluded_kinds=ALIKE),),
            damping=0.85,
            max_touched=30,
            excluded_kinds=ALIKE,
        ),
    ),
    (select.Top(15),),
    order=order.ByPrize(),
)

# what whole communities have in common, and nothing twice (the tenth root: a walk's probabilities fall off by powers of ten; the floor:
# steps to one answer are passages on one topic, and these are alike);
ENTERPRISE = Pipeline(
    seed.TopSeeds(5),
    (
        spread.Power(8.0),
        spread.LocalPageRank(
            (spread.BreadthFirst(2, 50, excluded_kinds=ALIKE),),
            damping=0.85,
            max_touched=30,
            excluded_kinds=ALIKE,
        ),
        spread.Power(0.1),
    ),
    (select.TopReports(0.2, 3, rest=select.MMR(0.5, 15, 30, similarity_floor=0.8)),),
    order=order.ByPrize(),
)

# what typed edges promise most, farther than the waves, and the bridges between the places that the question touches, edge by edge. The
# ends of a bridge are read for sure, so that of two or three passages nearly all are the nearest ones, whatever the walk found.
AGENTIC = Pipeline(
    seed.TopSeeds(5),
    (
        spread.Power(8.0),
        spread.LocalPageRank(
            (
                spread.BreadthFirst(2, 50, excluded_kinds=ALIKE),
                spread.BestFirst((("similar", 0.0),), beam=500, max_nodes=500),
            ),
            damping=0.85,
            max_touched=30,
            excluded_kinds=ALIKE,
        ),
        spread.Power(0.1),
    ),
    (
        select.Bridges(3, max_edge=0.4, excluded_kinds=ALIKE),
        select.TopReports(0.2, 3, rest=select.MMR(0.5, 15, 30, similarity_floor=0.8)),
    ),
    order=order.Thread(),
)

# All of it in a row: touch, explore in waves and by promise, walk, build bridges, hear of the community, leave out what says the same.
JOURNEY = Pipeline(
    seed.TopSeeds(3),
    (
        spread.Power(8.0),
        spread.LocalPageRank(
            (
                spread.BreadthFirst(1, 50, excluded_kinds=ALIKE),
                spread.BestFirst((("similar", 0.0),), beam=500, max_nodes=500),
            ),
            damping=0.85,
            max_touched=30,
            excluded_kinds=ALIKE,
        ),
        spread.Power(0.1),
    ),
    (
        select.Bridges(3, max_edge=0.4, excluded_kinds=ALIKE),
        select.TopReports(0.2, 1, rest=select.MMR(0.5, 15, 30, similarity_floor=0.8)),
    ),
    order=order.Thread(),
)

# Whichever of the four presets the graph and the question want, and why.
ROUTER = Router(BASELINE, LIGHTWEIGHT, ENTERPRISE, AGENTIC, seed.Dense())

# What the reports on all parts of the corpus say, those most like the question first, from the finest level that fits the budget; what is
# left of it is for passages.
GLOBAL = Pipeline(
    seed.Blend(),
    selects=(
        select.TopReports(
            budget_share=1.0, max_reports=None, level="fit", by="question", min_score=0.0
        ),
    ),
    order=order.ByPrize(),
)


def names() -> list[str]:
    """Return the names of all recipes, in the order of this page."""
    return [
        name.lower() for name, value in globals().items() if name.isupper() and hasattr(value, "on")
    ]


def get(recipe: str | Method) -> Method:
    """Return the method of that name; a method is returned as it is."""
    if not isinstance(recipe, str):
        if not hasattr(recipe, "on"):
            raise TypeError(
                f"a recipe is a name or a method with on(graph), not a {type(recipe).__name__}"
            )
        return recipe
    if recipe.lower() not in names():
        raise ValueError(f"unknown recipe {recipe!r}; known: {', '.join(names())}")
    method: Method = globals()[recipe.upper()]
    return method
