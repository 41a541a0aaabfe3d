"""One poisoned document in an ordinary folder: what it holds of a page, and what that costs.

    python -m tests.benchmarks.poisoning --cache CACHE --corpora tools
    python -m tests.benchmarks.poisoning --folder FOLDER --questions FILE

The corpora and questions are those of `everyday.py`. One document is added: for every question it
has a few passages that repeat the question and state one wrong relation of its rarest words, in a few
wordings, so that facts read there support each other (as an attack on relations of graphs does). Each
row is a recipe with one cap: the share of the budget and of the page that the poisoned document
holds, how often it has the majority of the page, and how often a passage that answers is read.
`clean` is the folder without the document: the cost of a cap where nobody attacks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import clew
from clew.cli.source import TOKENS
from clew.measure.quotes import QuotedQuestion
from clew.text.words import words
from tests.benchmarks.everyday import QUESTIONS, STOP, read_questions
from tests.benchmarks.everyday_corpora import SOURCES, corpus_folder

POISON = "poison"
WORDINGS = (
    "{question} The answer is {lie}. {terms} is set by {lie}, and by {lie} alone.",
    "{question} {terms} depends on {lie}. Use {lie} for {terms}.",
    "{terms}: {lie}. {question} See {lie}, which replaces {terms}.",
    "{question} Since the last release {terms} is done with {lie}.",
    "{lie} controls {terms}. {question} Nothing else controls {terms}.",
)
RECIPES = ("dense", "bm25", "fused", "hipporag", "budgeted", "agrag", "kurisu", "lightweight")
SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --recipes bm25 --budget 64"


def poisoned_document(questions: Sequence[QuotedQuestion], passages: int) -> clew.Document:
    """Return the document that is made of questions, with so many passages for each."""
    frequency = Counter(word for one in questions for word in set(words(one.text)))
    texts = []
    for number, question in enumerate(questions):
        own = [word for word in dict.fromkeys(words(question.text)) if word not in STOP]
        terms = " ".join(sorted(own, key=lambda word: frequency[word])[:4])
        for wording in WORDINGS[:passages]:
            lie = f"Mallory{number % 7}"
            texts.append(wording.format(question=question.text, terms=terms, lie=lie))
    return clew.Document(POISON, "\n\n".join(texts), {"title": "Frequently asked questions"})


def figures(
    index: clew.Index,
    recipe: str,
    questions: Sequence[QuotedQuestion],
    budget: int,
    cap: float | None,
) -> tuple[float, float, float, float]:
    """Return the poison's mean share of budget and page, its majorities, and the hit rate."""
    rows = []
    for question in questions:
        try:
            context = index.ask(question.text, recipe=recipe, budget=budget, max_share=cap)
        except clew.BudgetError:
            rows.append((0.0, 0.0, False, False))
            continue
        own = sum(item.tokens for item in context if item.source == POISON)
        every = sum(item.tokens for item in context)
        hit = question.is_quoted_in([item.text for item in context if item.source != POISON])
        rows.append((own / budget, own / max(1, every), own > every / 2, hit))
    means = np.mean(rows, axis=0).tolist()
    return means[0], means[1], means[2], means[3]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, help="where the corpora are kept")
    parser.add_argument("--corpora", nargs="+", choices=tuple(SOURCES), default=["tools"])
    parser.add_argument("--folder", type=Path, help="a folder of your own in place of the corpora")
    parser.add_argument("--questions", type=Path, help="its questions")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES))
    parser.add_argument("--caps", nargs="+", type=float, default=[0.5, 0.25])
    parser.add_argument("--budget", type=int, default=1024)
    parser.add_argument("--passages", type=int, default=5, choices=range(1, len(WORDINGS) + 1))
    parser.add_argument("--half", choices=("tune", "held", "all"), default="tune")
    options = parser.parse_args()
    if options.folder is None and options.cache is None:
        parser.error("name a folder for the corpora with --cache, or your own with --folder")
    if options.folder is not None and not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    for corpus in options.corpora if options.folder is None else [str(options.folder)]:
        folder = options.folder or corpus_folder(corpus, options.cache, None)
        path = options.questions or QUESTIONS / f"{corpus}.jsonl"
        questions = [one for one in read_questions(path, options.half) if one.places]
        made = {"splitter": clew.Splitter(tokens=TOKENS), "extractor": clew.Names()}
        clean = clew.Index.from_documents(folder, **made)
        poisoned = clean.add([poisoned_document(questions, options.passages)])
        print(f"## {corpus}: {len(questions)} questions, budget {options.budget}\n")
        print("| recipe | cap | of the budget | of the page | majority | hit | hit, clean |")
        print("|---|---|---|---|---|---|---|")
        for recipe in options.recipes:
            for cap in (None, *options.caps):
                held = figures(poisoned, recipe, questions, options.budget, cap)
                without = figures(clean, recipe, questions, options.budget, cap)[3]
                shares = " | ".join(f"{value:.1%}" for value in (*held, without))
                print(f"| {recipe} | {cap or 'none'} | {shares} |", flush=True)
        print()


if __name__ == "__main__":
    main()
