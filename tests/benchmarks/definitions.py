"""What is X? Every term of a glossary is asked for in the whole documentation around it.

    python -m tests.benchmarks.definitions --cache CACHE --sources SOURCES
    python -m tests.benchmarks.definitions --folder FOLDER --glossary guide/glossary.html

The glossaries are those of the corpora of `tests.benchmarks.everyday` that have one, or that of a FOLDER.
They are read by regular expressions over the files, not by clew. A question is hit where a passage has the
first words of the term's definition; entries that only refer to another one are left out. What other files
say of a term counts for nothing, so that no figure reaches 1.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.benchmarks.everyday import (
    add_corpora,
    compare,
    folder_and_questions,
    index_of,
    pooled,
    read_questions,
)

GLOSSARIES = {  # of corpora; what asks for definitions was chosen on that of `commands`
    "commands": ("gitglossary.7.txt",),
    "sqlalchemy": ("glossary.html",),
    "manuals": ("celery/glossary.rst", "cython/src/userguide/glossary.rst"),
    "handbooks": ("roundup/glossary.html",),
}
QUOTED = 10  # words of a definition
LEAST = 6  # words of a definition that is one
SMOKE = "--folder {folder} --glossary glossary.html --recipes fused --budgets 64"


def entries_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every term of a glossary with the first paragraph of its definition."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        for match in re.finditer(
            r"<dt\b[^>]*>(.*?)</dt>\s*(?:<dt\b.*?</dt>\s*)*<dd\b[^>]*>(.*?)</dd>", text, re.DOTALL
        ):
            paragraph = re.search(r"<p>(.*?)</p>", match[2], re.DOTALL)
            yield words_of(match[1]), words_of(paragraph[1] if paragraph else match[2])
    elif path.suffix == ".rst":
        for match in re.finditer(r"\n( +)(\S[^\n]*)\n\1 +(\S.+?)(?=\n\s*\n)", text, re.DOTALL):
            yield match[2], re.sub(r":\w+:`([^`<]*?)(?:\s*<[^>]*>)?`|`+_*", r"\1", match[3])
    else:
        blocks = [block.strip() for block in text.split("\n\n")]
        for term, definition in pairwise(blocks):
            if len(term) < 40 and re.fullmatch(r"[\w ./-]*\w", term) and len(definition) > 40:
                yield term, definition


def words_of(markup: str) -> str:
    """Return the words of some HTML."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).replace("¶", "")


def write_questions(folder: Path, glossaries: tuple[str, ...], target: Path) -> None:
    """Write a question for each term, as lines of `everyday`."""
    lines = []
    for glossary in glossaries:
        for term, definition in entries_in(folder / glossary):
            words = definition.split()
            if len(words) < LEAST or words[0].lower() in ("see", "short"):
                continue
            quote = " ".join(words[:QUOTED])
            record = {
                "id": f"{glossary}-{len(lines)}",
                "question": f"What is {' '.join(term.split())}?",
                "gold": [{"file": glossary, "quote": quote}],
                "half": "held",
                "answerable": True,
            }
            lines.append(json.dumps(record))
    if not lines:
        raise ValueError(f"no entries were found in {', '.join(glossaries)} below {folder}")
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.set_defaults(corpora=list(GLOSSARIES), half="all")
    parser.add_argument("--glossary", nargs="+", help="the glossaries of FOLDER")
    parser.add_argument(
        "--recipes", nargs="+", default=["fused", "hipporag", "budgeted", "kurisu", "bm25"]
    )
    parser.add_argument("--budgets", nargs="+", type=int, default=[512])
    options = parser.parse_args()
    options.names = options.sentences = False
    options.embedder = options.keep_index = None
    tables = []
    with tempfile.TemporaryDirectory() as made:
        for corpus in options.corpora if options.folder is None else [str(options.folder)]:
            if options.folder is None and corpus not in GLOSSARIES:
                parser.error(f"{corpus} has no glossary: choose of {', '.join(GLOSSARIES)}")
            folder = options.folder or folder_and_questions(corpus, options)[0]
            target = Path(made) / "questions.jsonl"
            write_questions(folder, GLOSSARIES.get(corpus, tuple(options.glossary or ())), target)
            questions = read_questions(target, "all")
            title = f"{corpus}: {len(questions)} terms"
            table, _ = compare(
                title, index_of(folder, options), options.recipes, questions, options.budgets
            )
            tables.append(table)
            print(table.to_markdown(), flush=True)
    if len(tables) > 1:
        print(pooled(tables, by_corpus=True).to_markdown())


if __name__ == "__main__":
    main()
