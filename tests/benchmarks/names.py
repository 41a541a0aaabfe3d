"""What `Names` finds in passages, beside the entities that a language model found in them.

    python -m tests.benchmarks.names FOLDER

FOLDER has corpus.jsonl and triples.jsonl, whose lines name the `entities` that a model found in each passage. A name counts as found if
its words are those of an entity (exact), or one's words stand in the other's (part). Averages are over all names and entities, not over
passages. The model is no truth: it also lists dates, numbers and plain nouns, so recall is shown for entities with a capital letter, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from clew import Names
from clew.measure.files import lines_of, needed
from clew.read import Passage
from clew.text.words import words

Said = dict[tuple[str, ...], str]


def spelt(names: Iterable[str]) -> Said:
    """The words of every name, and how it is written."""
    return {tuple(words(name)): name for name in names if words(name)}


def inside(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return f" {' '.join(one)} " in f" {' '.join(other)} "


def found(these: Said, those: Said, *, part: bool) -> int:
    """How many of these are among those."""
    return sum(
        key in those or (part and any(inside(key, other) or inside(other, key) for other in those))
        for key in these
    )


def measured(folder: Path, names: Names) -> list[str]:
    """Return the lines of the table."""
    corpus = [record for _, record in lines_of(needed(folder, "corpus.jsonl"))]
    by_model = {
        record["passage_id"]: record.get("entities", [])
        for _, record in lines_of(needed(folder, "triples.jsonl"))
    }
    passages = [Passage(record["id"], f"{record['title']}\n{record['text']}") for record in corpus]
    ours = [spelt(said) for said in names.names(passages)]
    theirs = [spelt(by_model.get(passage.id, [])) for passage in passages]
    capitals = [
        {key: name for key, name in said.items() if name != name.lower()} for said in theirs
    ]
    pairs = [(a, b, c) for a, b, c in zip(ours, theirs, capitals, strict=True) if b]
    mine, model, large = (sum(len(row[i]) for row in pairs) for i in range(3))
    lines = [
        f"{len(pairs):,} passages with entities: {mine:,} names, {model:,} entities of the model, {large:,} of them with a capital",
        "",
    ]
    lines += ["| | precision | recall | recall, with a capital |", "|---|---:|---:|---:|"]
    for label, part in (("exact", False), ("part", True)):
        right = sum(found(a, b, part=part) for a, b, _ in pairs) / mine
        known = sum(found(b, a, part=part) for a, b, _ in pairs) / model
        capital = sum(found(c, a, part=part) for a, _, c in pairs) / large
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
    print("\n".join(measured(options.folder, Names(years=options.years))))


if __name__ == "__main__":
    main()
