"""Questions of another world, such as on bread and football: is the page empty, as it should be?

    python -m tests.benchmarks.elsewhere --cache CACHE --sources SOURCES --corpora documentation
    python -m tests.benchmarks.elsewhere --folder FOLDER

The sixty questions of `everyday/elsewhere.txt` are asked of every corpus, or of a folder of your own, as
`clew ask FOLDER` asks. What is read nevertheless is printed with its relevance. `relevance.py` asks
questions that are nearer to the folder, and counts what is lost, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import clew
from tests.benchmarks.everyday import (
    QUESTIONS,
    add_corpora,
    corpora_of,
    folder_and_questions,
    index_of,
)

BUDGET = 512
SMOKE = "--folder {folder}"


def answered(index: clew.Index, questions: list[str]) -> list[tuple[str, float]]:
    """Return the questions whose page is not empty, with the relevance of what is best there."""
    contexts = [(question, index.ask(question, budget=BUDGET)) for question in questions]
    return [
        (question, max(item.relevance or 0.0 for item in context))
        for question, context in contexts
        if context.items
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.add_argument("--embedder", help="minilm, or any that clew takes (default: clew's own)")
    parser.add_argument("--keep-index", type=Path, help="as in the everyday benchmark")
    parser.set_defaults(names=False, sentences=False)
    options = parser.parse_args()
    questions = (QUESTIONS / "elsewhere.txt").read_text("utf-8").splitlines()
    own = corpora_of(options.corpora) if options.folder is None else [str(options.folder)]
    told = 0
    for corpus in own:
        folder = options.folder or folder_and_questions(corpus, options)[0]
        found = answered(index_of(folder, options), questions)
        told += len(questions) - len(found)
        print(f"{corpus}: {len(questions) - len(found)} of {len(questions)} told", flush=True)
        for question, relevance in found:
            print(f"    {relevance:.2f} {question}")
    print(f"all: {told} of {len(own) * len(questions)}")


if __name__ == "__main__":
    main()
