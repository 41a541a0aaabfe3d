"""How many passages of a folder are in their files where clew says, and what it costs to know.

Every file is opened as it is on the disk, apart from clew. A passage counts as found if its first
three words are in the lines that are named, or, where it opens at an anchor of HTML, if the page
has the anchor, and not behind them. Processor time is that of reading the files and of the whole
index.

    python tests/benchmarks/places.py FOLDER
"""

from __future__ import annotations

import argparse
import html
import re
import time
from collections import Counter
from pathlib import Path

import clew
from clew.index.locating import with_locations
from clew.items import Item

SMOKE = "{folder}"

MARGIN = 4  # lines behind the first in which the first words of a table or a list may stand
WORD = re.compile(r"\w+")
LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
MARKS = re.compile(r"^(?:```\w*|[>\s]|- |\d+\. )+")


def first_words(item: Item) -> str:
    """The first words of a passage, without the marks of Markdown and spaces."""
    text = LINK.sub(r"\1", MARKS.sub("", item.text)).replace("\\", "")
    return "".join(WORD.findall(text)[:3])


def judge(item: Item, source: str, is_html: bool) -> Counter[str]:
    """What is right and wrong about the location of a passage."""
    found = Counter(passages=1)
    if item.lines is None:
        return found
    lines = source.split("\n")
    first, last = item.lines
    there = "\n".join(lines[first - 1 : max(last, first + MARGIN if is_html else last)])
    if is_html:
        there = html.unescape(re.sub(r"<[^<>]*>|^[^<>]*>", "", there))
    words = "".join(WORD.findall(LINK.sub(r"\1", there).replace("\\", "")))
    found["lines right"] = first_words(item) in words
    if item.anchor is not None:
        at = re.search(rf"""\b(?:id|name)=["']?{re.escape(item.anchor)}["'\s>]""", source)
        behind = at is not None and source.count("\n", 0, at.start()) + 1 > last
        found["anchors"] = 1
        found["anchors right"] = at is not None and not behind
    return found


def main() -> None:
    """Print the shares of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="what to read")
    folder = parser.parse_args().folder
    clew.Index.from_documents(["Warm."])
    start = time.process_time()
    documents = clew.read.load_documents(folder).documents
    read = time.process_time()
    index = clew.Index.from_documents(documents, splitter=clew.Splitter())
    built = time.process_time()
    print(f"{folder}: reading {read - start:.2f} s, index {built - read:.2f} s of processor time")
    graph, sources, found = index.graph, dict[str, str](), dict[str, Counter[str]]()
    rows = [row for row in range(len(graph)) if graph.kinds[row] == "passage"]
    items = with_locations(
        (
            Item(
                *(graph.ids[row], graph.texts[row], 0.0, "seed", "passage", 0),
                document=graph.ids[graph.documents[row]],
                span=tuple(graph.spans[row].tolist()),
                metadata=graph.metadata[row],
            )
            for row in rows
        ),
        index.document_of,
    )
    for item in items:
        path = str(item.metadata["path"])
        if path not in sources:
            raw = Path(path).read_bytes()
            sources[path] = raw.decode("utf-8", "replace").replace("\r\n", "\n")
        suffix = Path(path).suffix
        found.setdefault(suffix, Counter()).update(judge(item, sources[path], suffix == ".html"))
    for suffix, counts in found.items():
        share = counts["lines right"] / counts["passages"]
        anchors = f"{counts['anchors right']:,} of {counts['anchors']:,}"
        print(f"  {suffix}: {counts['passages']:,} passages, lines {share:.1%}, anchors {anchors}")


if __name__ == "__main__":
    main()
