"""`clew document`: a folder of documents or code becomes a folder of documentation."""

from __future__ import annotations

import argparse
from pathlib import Path, PurePosixPath

from clew.cli.models import model_of
from clew.cli.source import opened
from clew.cli.terminal import remark, say, watched
from clew.index.index import Index


def document(options: argparse.Namespace) -> int:
    """Write the documentation, and say what is in it."""
    from clew.documentation import estimate_documentation, write_documentation

    model = None
    if options.model is not None:  # said before anything is read
        model = model_of(
            options.model, answers=options.output.with_name(f"{options.output.name}.answers")
        )
    index = without_pages(opened(options), options.source)
    if options.dry_run:
        asked = estimate_documentation(index, budget=options.budget, sections=options.sections)
        say(
            f"about {asked.calls:,} calls with {asked.tokens:,} tokens at most in the first round, answers not counted"
        )
        return 0
    title = options.title or Path(options.source).resolve().name
    made = write_documentation(
        index,
        title=title,
        model=model,
        recipe=options.recipe,
        budget=options.budget,
        sections=options.sections,
        cover=options.cover,
        by=options.by,
        progress=watched(),
    )
    files = made.save(options.output)
    passages = int(index.graph.content.sum())
    read = passages - len(made.uncovered)
    say(
        f"{options.output}: {len(made.sections):,} sections on {len(files) - 2:,} pages, from {read:,} of {passages:,} passages"
    )
    say(f"begin with {files[0]}; {files[-1].name} is the map of the questions")
    for what, why in made.failed:
        remark(f"{what}: {why}")
    return 0


def without_pages(index: Index, source: str) -> Index:
    """Return the index without what `clew document` has written earlier, and say what that is.

    Raises:
        ValueError: there is nothing else.
    """
    from clew.documentation.pages import MAP, MARK

    pages = [document.id for document in index.documents if document.text.startswith(MARK)]
    folders = {PurePosixPath(page).parent for page in pages}
    maps = [
        one.id
        for one in index.documents
        if PurePosixPath(one.id).name == MAP and PurePosixPath(one.id).parent in folders
    ]
    if not pages:
        return index
    if len(pages) + len(maps) == len(index.documents):
        raise ValueError(
            f"{source} has nothing in it but documentation that `clew document` made: name what that was made of"
        )
    some = ", ".join(pages[:2]) + (", …" if len(pages) + len(maps) > 2 else "")
    remark(f"left out: {len(pages) + len(maps):,} files that `clew document` made ({some})")
    return index.delete([*pages, *maps])
