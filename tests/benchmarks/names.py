"""Compare the names that `Names` reads in passages with the entities that a language model read.

    python -m tests.benchmarks.names FOLDER

FOLDER has corpus.jsonl and triples.jsonl, whose lines have the `entities` that a model read in each
passage. A name matches if its words are those of an entity (exact), or if the words of one stand in
those of the other (part). Averages are over all names and entities, not over passages. The model is
no truth: it also lists dates, numbers and plain nouns, so recall is shown for entities with a capital
letter, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from clew import Names
from clew.measure.files import read_lines, require_file
from clew.read import Passage
from clew.text.words import words

WordsAndSpelling = dict[tuple[str, ...], str]


def by_words(names: Iterable[str]) -> WordsAndSpelling:
    """Return how each name is written, by its words."""
    return {tuple(words(name)): name for name in names if words(name)}


def inside(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether the words of one stand in those of the other."""
    return f" {' '.join(one)} " in f" {' '.join(other)} "


def count_matches(these: WordsAndSpelling, those: WordsAndSpelling, *, part: bool) -> int:
    """Return how many of these are among those."""
    return sum(
        key in those or (part and any(inside(key, other) or inside(other, key) for other in those))
        for key in these
    )


def compare(folder: Path, names: Names) -> list[str]:
    """Return the lines of the table."""
    corpus = [record for _, record in read_lines(require_file(folder, "corpus.jsonl"))]
    by_model = {
        record["passage_id"]: record.get("entities", [])
        for _, record in read_lines(require_file(folder, "triples.jsonl"))
    }
    passages = [Passage(record["id"], f"{record['title']}\n{record['text']}") for record in corpus]
    ours = [by_words(some) for some in names.names(passages)]
    theirs = [by_words(by_model.get(passage.id, [])) for passage in passages]
    capitals = [
        {key: name for key, name in entities.items() if name != name.lower()} for entities in theirs
    ]
    pairs = [(a, b, c) for a, b, c in zip(ours, theirs, capitals, strict=True) if b]
    mine, model, large = (sum(len(row[i]) for row in pairs) for i in range(3))
    lines = [
        f"{len(pairs):,} passages with entities: {mine:,} names, {model:,} entities of the model, {large:,} of them with a capital",
        "",
    ]
    lines += ["| | precision | recall | recall, with a capital |", "|---|---:|---:|---:|"]
    for label, part in (("exact", False), ("part", True)):
        right = sum(count_matches(a, b, part=part) for a, b, _ in pairs) / mine
        known = sum(count_matches(b, a, part=part) for a, b, _ in pairs) / model
        capital = sum(count_matches(c, a, part=part) for a, _, c in pairs) / large
        lines.append(f"| {label} | {right:.3f} | {known:.3f} | {capital:.3f} |")
    return lines


SMOKE = "{folder}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--years", action="store_true", help="numbers of four digits are names, too"
    )
    options = parser.parse_args()
    print("\n".join(compare(options.folder, Names(years=options.years))))


if __name__ == "__main__":
    main()
