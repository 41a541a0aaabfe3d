"""`clew index`: read a folder once, ask it often."""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path

from clew.cli import models
from clew.cli.databases import place_of_index, shown, update_remote
from clew.cli.parser import Commands, add_command, non_negative_integer, positive_integer
from clew.cli.resuming import keeping_what_is_read
from clew.cli.settings import (
    OF_AN_INDEX,
    add_settings_option,
    configured,
    index_settings,
    recipe_settings,
)
from clew.cli.shards import add_shards_option, index_shards
from clew.cli.source import (
    add_reading_options,
    build_index,
    check_writable_folder,
    existing_path,
    patterns_of,
    splitter_of,
)
from clew.cli.terminal import counted, print_remark, print_result
from clew.cli.watch import watch
from clew.index.index import Index
from clew.index.saving import is_remote
from clew.read import Triples, estimate_extraction
from clew.storage import StorageError
from clew.store import foreign_files, is_index

EXAMPLES = """examples:
  clew index docs/ -o docs.clew
  clew index docs/ -o docs.clew --tokens 128 --embedder all-MiniLM-L6-v2
  clew index docs/ -o docs.clew --include '*.md' --exclude drafts/
  clew index docs/ -o docs.clew --facts facts.json   {"intro.md": [["clew", "is a", "ball"]]}
  clew index docs/ -o docs.clew --model langchain_openai:ChatOpenAI:gpt-4o-mini --dry-run
  clew index docs/ -o docs.clew --model langchain_openai:ChatOpenAI:gpt-4o-mini
  clew index docs/ -o docs.clew                      again: reads what has changed
  clew index docs/ -o docs.clew --watch              goes on reading what changes
  clew index docs/ -o 'postgresql://anna@host/db?index=docs'    in a database
  clew index docs/ -o s3://bucket/docs               in a storage (extra storage), for replicas
  clew index docs/ -o docs.clew --shards 4           several indexes, where one needs more memory
  clew ask docs.clew "How do I cancel a running job?"

An index keeps its --include and --exclude. Patterns that are typed replace both; --include '*'
reads all files again.

--dry-run says how many calls and tokens a language model would be asked for. The same command
again asks it only for what failed.

--watch looks at the folder every second until Ctrl-C, and saves what has changed; `clew ask` in
another terminal answers from the index as it was last saved.

After Ctrl-C the same command goes on: files that were read, and answers of a model, are kept."""

KINDS = {  # that are counted, with their plurals
    "section": "sections",
    "passage": "passages",
    "sentence": "sentences",
    "entity": "entities",
    "report": "reports",
}


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "read a folder once and save its index"
    parser = add_command(commands, "index", summary, EXAMPLES, index)
    parser.add_argument("source", metavar="FOLDER|FILE", help="what to read")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=place_of_index,
        metavar="DIR",
        help="where to save the index: a folder, s3://bucket/NAME and the like, or "
        "postgresql://user@host/database?index=NAME, also falkordb://, bolt:// and neo4j://",
    )
    extractors = add_reading_options(parser)
    extractors.add_argument(
        "--model",
        metavar=models.METAVAR,
        help=f"extract facts with this language model: {models.HELP}",
    )
    models.add_model_options(parser)
    add_settings_option(parser, recipe=False)
    parser.add_argument(
        "--rounds",
        type=non_negative_integer,
        default=0,
        metavar="N",
        help="ask N times more for facts that were missed (default: 0)",
    )
    parser.add_argument(
        "--workers",
        type=positive_integer,
        default=4,
        metavar="N",
        help="how many prompts are asked at a time (default: 4)",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="where the model's answers are kept (default: DIR.answers)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what the model would be asked, and ask nothing"
    )
    add_shards_option(parser)
    parser.add_argument(
        "--watch",
        action="store_true",
        help="keep the saved index up to date while the folder changes, until Ctrl-C",
    )


def index(options: argparse.Namespace) -> int:
    """Build and save an index, and print what is in it."""
    if own := recipe_settings(options.set):
        raise ValueError(
            f"--set {own[0]} is of a recipe: give it to `clew ask`. An index has settings of "
            f"{', '.join(OF_AN_INDEX)}"
        )
    if options.shards is not None:
        return index_shards(options)
    if options.watch and options.dry_run:
        raise ValueError("--dry-run asks nothing and saves nothing: leave --watch out")
    if isinstance(options.output, str):
        _check_address(options)
    else:
        _refuse_other_files(options.output)
        if not options.dry_run:
            check_writable_folder(options.output)
    extractor = None if options.model is None else _extractor(options)
    if options.dry_run:
        if extractor is None:
            raise ValueError("--dry-run says what a model would be asked: name one with --model")
        source = existing_path(options.source)
        is_database = is_remote(options.output)
        patterns = patterns_of(options, None if is_database else _index_before(options))
        estimate = estimate_extraction(
            source,
            extractor,
            splitter=splitter_of(options),
            include=patterns.include,
            exclude=patterns.exclude,
        )
        print_result(str(estimate))
        return 0
    built = _build(options, extractor)
    if options.watch:
        watch(
            existing_path(options.source),
            options.output,
            built,
            lambda before: build_index(
                options, extractor, savable=True, before=before, keeps_patterns=True
            ),
        )
    return 0


def _build(options: argparse.Namespace, extractor: Triples | None) -> Index:
    """Return the index, built and saved; print what is in it, or that nothing has changed."""
    begin = time.perf_counter()

    def build(before: Index | None) -> Index:
        built = build_index(options, extractor, savable=True, before=before, keeps_patterns=True)
        if extractor is not None and built.failed and not len(built.graph.facts):
            raise ValueError(
                "the model read no passage, so nothing was saved; the error of the first: "
                f"{built.failed[0][1]}"
            )
        return built

    with keeping_what_is_read(existing_path(options.source)) as discard:
        if is_remote(options.output):
            before, built = update_remote(options, build)
        else:
            before = _index_before(options)
            built = build(before)
            if built is not before:  # perhaps only other looks of files, or other files left out
                built.save(options.output)
        discard()
    place = shown(options.output)
    if before is not None and built.documents is before.documents:
        print_result(f"{place}: nothing has changed")
        return built
    seconds = time.perf_counter() - begin
    print_result(f"{place}: {_counts(built)} in {seconds:.1f} s")
    print_result(f'ask it: clew ask {shlex.quote(place)} "..."')
    return built


def _check_address(options: argparse.Namespace) -> None:
    """Refuse what needs a folder beside the index."""
    if options.watch and is_remote(options.output):
        raise ValueError("--watch keeps a folder up to date: name one after -o")
    if options.model is not None and options.answers is None:
        raise ValueError("name a file for the model's answers: --answers FILE")


def _index_before(options: argparse.Namespace) -> Index | None:
    """Return the index that the command made before, of which most may still hold."""
    if isinstance(options.output, Path) and not is_index(options.output):
        return None
    try:
        return Index.load(options.output, embedder=options.embedder)
    except StorageError:  # what would be published could not be, either
        raise
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # damaged, or made with what is not given now
        print_remark(
            f"the index in {shown(options.output)} was not opened, so it is made anew, without "
            f"facts that were given before: {error}"
        )
        return None


def _refuse_other_files(output: Path) -> None:
    """Refuse to write over anything but an index, an empty folder or what a save left behind."""
    if not output.exists() or is_index(output):
        return
    if output.is_file() or foreign_files(output):
        raise ValueError(
            f"{output} exists and is not an index: name an index or a new folder after -o"
        )


def _extractor(options: argparse.Namespace) -> Triples:
    """What extracts facts with the model.

    The answers are kept in a file beside the index, so that after a crash no call is paid for
    twice. A dry run makes no such file.
    """
    file = options.answers or options.output.with_name(f"{options.output.name}.answers")
    answers = None if options.dry_run and not file.exists() else file
    model = models.model_of(options.model, options)
    extractor = Triples(
        model,
        rounds=options.rounds,
        workers=options.workers,
        answers=answers,
    )
    return configured("triples", extractor, index_settings(options.set))


def _counts(built: Index) -> str:
    counts = ", ".join(
        counted(count, kind, plural)
        for kind, plural in KINDS.items()
        if (count := len(built.graph.rows(kind)))
    )
    edges = counted(len(built.graph.edges), "edge")
    return f"{counted(len(built), 'document')} ({counts}; {edges})"
