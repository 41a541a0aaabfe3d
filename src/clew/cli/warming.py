"""`clew warm`: what the first question after an installation would wait for, done now."""

from __future__ import annotations

import argparse
import random
import time

import clew
from clew.cli.terminal import remark, watched

PEOPLE = 120


def warm(options: argparse.Namespace) -> int:
    """Ask every recipe a question on a small corpus, so that its loops are compiled and kept."""
    from tqdm import tqdm

    recipes = options.names or clew.recipes.names()
    for name in recipes:
        clew.recipes.get(name)
    begun = time.perf_counter()
    index = corpus()
    for name in tqdm(recipes, desc="compiling", unit="recipe", disable=not watched()):
        index.ask("Whom does Ada Stone know, and where do they live?", recipe=name, budget=300)
    remark(
        f"ready after {time.perf_counter() - begun:.0f} s: {', '.join(recipes)}; the machine code is kept"
    )
    return 0


def corpus() -> clew.Index:
    """Return an index of made-up people who know each other, with sections, sentences, facts and reports."""
    chance = random.Random(0)  # noqa: S311  # a made-up corpus, no secret
    first, last, towns = (
        ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"),
        ("Stone", "Marsh", "Reed", "Wood"),
        ("Corfu", "Malta", "Crete"),
    )
    people = [
        f"{first[i % 6]} {last[i // 6 % 4]}" + f" {i // 24}" * (i > 23) for i in range(PEOPLE)
    ]
    documents, facts = [], {}
    for i, person in enumerate(people):
        others, town = chance.sample(people, 3), chance.choice(towns)
        said = " ".join(f"{person} knows {other}." for other in others)
        documents.append(
            clew.Document(
                f"p{i}",
                f"# {person}\n\n{said}\n\n## Home\n\n{person} lives on {town}.",
                format="markdown",
            )
        )
        facts[f"p{i}"] = [
            *((person, "knows", other) for other in others),
            (person, "lives on", town),
        ]
    index = clew.Index.from_documents(
        documents, facts=facts, splitter=clew.Splitter(64, sentences=True)
    )
    return index.generate(clew.generate.Reports())
