"""Forests and several roots against one tree: what they find of the gold passages at a token budget.

    python -m tests.benchmarks.joined FOLDER [--facts any|none] [--budgets 256,512,1024,2048] [--baseline dense]

FOLDER is a benchmark as `clew measure` reads it. `agrag` answers with a forest where its terminals are not connected; "one tree" is
the way of its authors' code, which joins the parts over a node tied to every passage at cost 10; "no growth" is the tree alone. `budgeted`
links the question to five nodes; "one root" to the best alone, so that the choice is one connected piece without the question. The last
table says in how many pieces a context comes: `trees` counts the parts that its terminals lie in.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from clew import recipes
from clew.measure import Benchmark, compare


def with_select(recipe, **changes):
    """The recipe with other parameters of its selection."""
    return replace(recipe, selects=(replace(recipe.selects[0], **changes),))


def with_seed(recipe, **changes):
    """The recipe with other parameters of its seed."""
    return replace(recipe, seed=replace(recipe.seed, **changes))


FACTS = (
    "fact",
    "mentions",
    "synonym",
)  # without links between passages, by which the recipe joins nearly everything
VARIANTS = {
    "dense": "dense",
    "fused": "fused",
    "hipporag": "hipporag",
    "agrag": "agrag",
    "agrag, one tree": with_select(recipes.get("agrag"), bridge_cost=10.0),
    "agrag, no growth": with_select(recipes.get("agrag"), max_steps=0),
    "agrag, facts alone joined": with_seed(recipes.get("agrag"), passages=0),
    "agrag over facts, forest": with_select(recipes.get("agrag"), kinds=FACTS, tree_first=True),
    "agrag over facts, one tree": with_select(
        recipes.get("agrag"), kinds=FACTS, tree_first=True, bridge_cost=10.0
    ),
    "budgeted": "budgeted",
    "budgeted, one root": with_select(recipes.get("budgeted"), connected_without_query=True),
    "budgeted, ten roots": with_select(recipes.get("budgeted"), q_links=10),
}


SMOKE = "{folder} --budgets 64,256"


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder")
    options.add_argument(
        "--facts", default="any", choices=("any", "triples", "surface_triples", "none")
    )
    options.add_argument("--budgets", default="256,512,1024,2048")
    options.add_argument("--baseline", default="dense")
    options.add_argument("--methods", default="", help="some of them, divided by semicolons")
    arguments = options.parse_args()
    benchmark = replace(
        Benchmark.open(arguments.folder, facts=arguments.facts), reference_tokens={}
    )
    methods = (
        {name: VARIANTS[name.strip()] for name in arguments.methods.split(";")}
        if arguments.methods
        else VARIANTS
    )
    budgets = tuple(map(int, arguments.budgets.split(",")))
    comparison = compare(
        benchmark,
        methods,
        (),
        budgets,
        arguments.baseline,
        figures={"trees": lambda context, _: 1 + len(context.missing)},
    )
    print(f"Facts: {arguments.facts}.\n\n{comparison.to_markdown()}")


if __name__ == "__main__":
    main()
