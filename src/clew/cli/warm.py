"""`clew warm`: compile now what the first question after an installation would wait for."""

from __future__ import annotations

import argparse
import random
import time

from clew import recipes
from clew.algorithms.kernels.compiled import compile_first
from clew.cli.parser import Commands, add_command
from clew.cli.terminal import print_remark, shows_progress
from clew.document import Document
from clew.generate import Reports
from clew.index.index import Index
from clew.progress import progress_bar
from clew.read import Splitter

EXAMPLES = """examples:
  clew warm                        all recipes: a minute or two
  clew warm hipporag budgeted      what these two need
  RUN pip install clew && clew warm hipporag       in a Dockerfile

Machine code is kept beside the installed package, or in NUMBA_CACHE_DIR where that is set."""

PEOPLE = 120
FIRST_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn")
LAST_NAMES = ("Stone", "Marsh", "Reed", "Wood")
ISLANDS = ("Corfu", "Malta", "Crete")


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "compile in advance what first questions would wait for"
    parser = add_command(commands, "warm", summary, EXAMPLES, warm)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only what these recipes need")


def warm(options: argparse.Namespace) -> int:
    """Ask every recipe a question on a small corpus, so that its kernels are compiled and kept."""
    names = options.names or recipes.names()
    for name in names:
        recipes.get(name)  # an unknown name is an error before anything is compiled
    begin = time.perf_counter()
    with compile_first():
        index = example_index()
        bar = progress_bar(names, shown=shows_progress(), label="compiling", unit="recipe")
        for name in bar:
            index.ask("Whom does Ada Stone know, and where do they live?", recipe=name, budget=300)
    seconds = time.perf_counter() - begin
    print_remark(f"ready after {seconds:.0f} s: {', '.join(names)}; the machine code is kept")
    return 0


def example_index() -> Index:
    """Return an index of invented people who know each other.

    It has sections, sentences, facts and reports, so that every recipe has something to work on.
    """
    rng = random.Random(0)  # noqa: S311  # an invented corpus, no secret
    people = [_full_name(i) for i in range(PEOPLE)]
    documents, facts = [], {}
    for i, person in enumerate(people):
        friends, island = rng.sample(people, 3), rng.choice(ISLANDS)
        sentences = " ".join(f"{person} knows {friend}." for friend in friends)
        text = f"# {person}\n\n{sentences}\n\n## Home\n\n{person} lives on {island}."
        documents.append(Document(f"p{i}", text, format="markdown"))
        facts[f"p{i}"] = [
            *((person, "knows", friend) for friend in friends),
            (person, "lives on", island),
        ]
    index = Index.from_documents(documents, facts=facts, splitter=Splitter(64, sentences=True))
    return index.generate(Reports())


def _full_name(i: int) -> str:
    """The first name and last name of a person; a number after these from the 25th on."""
    first = FIRST_NAMES[i % len(FIRST_NAMES)]
    last = LAST_NAMES[i // 6 % len(LAST_NAMES)]
    return f"{first} {last}" + (f" {i // 24}" if i > 23 else "")
