"""What the user names becomes an index: a folder or file is read, a saved index is opened."""

from __future__ import annotations

import argparse
import errno
import json
import re
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from clew.algorithms.community_detection.modularity import METHODS
from clew.algorithms.nearest.hnsw import HNSW
from clew.cli import models
from clew.cli.databases import open_remote, shown
from clew.cli.folder_cache import keep, open_cached, place_of
from clew.cli.parser import Parser, positive_integer
from clew.cli.resuming import keeping_what_is_read, with_vectors_kept
from clew.cli.settings import check_used, configured, index_settings
from clew.cli.terminal import counted, print_remark, shows_progress
from clew.cores import usable_cores
from clew.document import Document
from clew.embedding.embedder import Embedder
from clew.generate import Descriptions, Reports, Summaries
from clew.index.config import FACTS, IndexConfig, IndexKeywords
from clew.index.given_facts import changed_facts
from clew.index.index import Index
from clew.index.saving import is_remote, made_otherwise
from clew.model import Model
from clew.read import NamesAndSymbols, Plain, Splitter, Symbols, Terms, Triples
from clew.read.patterns import EXCLUDE, INCLUDE, checked_patterns, pattern_remarks
from clew.storage.address import is_storage
from clew.store import is_index
from clew.types import Generate

BUILDING_OPTIONS = (  # all that change how a folder is read
    *("tokens", "embedder", "sentences", "names", "no_names", "terms", "plain"),
    *("nearest", "encoding", "untrusted", "facts", "set"),
)
TOKENS = 256  # of a passage, unless the user says otherwise
STDIN, STDIN_NAME = "-", "stdin"  # as it is typed, and as its lines are cited
SLOW = 5.0  # seconds of reading, from which a saved index is recommended
MAX_NAMES = 3  # of files, in a remark
# What the reason begins with where a file was read, though not as its name says, or not all of it.
READ = re.compile(r"read\b,? *")
TYPED: Mapping[str, str] = {  # as what the options of an index are typed that differ between two
    "extractor": "--names, --terms or --model",
    "splitter": "--tokens or --sentences",
    "canonical": "--plain",
    "generators": "--reports, --summaries or --titles",
    **{name: f"--{name}" for name in ("embedder", "nearest", "encoding", "untrusted")},
}
GENERATORS: Mapping[str, Callable[[Model | None, argparse.Namespace], Generate]] = {  # by option
    "titles": lambda model, _: Descriptions(model),
    "summaries": lambda model, _: Summaries(model),
    "reports": lambda model, options: Reports(
        model, level=None, method=options.communities or METHODS[0]
    ),
}


def add_reading_options(
    parser: Parser, *, cached: bool = False
) -> argparse._MutuallyExclusiveGroup:
    """Declare the options of reading a folder.

    Args:
        parser: The parser of a command.
        cached: Whether what is read is kept for the next question.

    Returns:
        The group of extractors, of which only one can be chosen.
    """
    add_pattern_options(parser)
    _add_passage_options(parser)
    _add_generator_options(parser)
    _add_text_options(parser)
    if cached:
        parser.add_argument(
            "--no-cache",
            action="store_true",
            help="read the folder anew and keep nothing of it; see `clew cache`",
        )
    return _add_extractors(parser)


def _add_passage_options(parser: Parser) -> None:
    """Declare what passages are cut, and how they are embedded."""
    parser.add_argument(
        "--tokens",
        type=positive_integer,
        metavar="N",
        help=f"split documents into passages of at most N tokens (default: {TOKENS})",
    )
    parser.add_argument(
        "--embedder",
        metavar="NAME",
        help="a sentence-transformers model (default: clew's own, fitted to what is read); "
        "give it again to ask an index made with it",
    )
    parser.add_argument(
        "--sentences",
        action="store_true",
        help="make a node of every sentence, too, for the recipe kurisu",
    )


def _add_generator_options(parser: Parser) -> None:
    """Declare what is written about passages."""
    parser.add_argument(
        "--reports",
        action="store_true",
        help="write reports on communities, for the recipes global, enterprise, agentic, journey "
        "and kurisu",
    )
    parser.add_argument(
        "--summaries",
        action="store_true",
        help="write summaries of what several passages name, for the recipe da_rag_paper, and for "
        "the language model of da_rag",
    )
    parser.add_argument(
        "--titles",
        action="store_true",
        help="write a title and a description of every passage, for the recipe da_rag",
    )
    parser.add_argument(
        "--writer",
        metavar=models.METAVAR,
        help="the language model that writes these; without one they are extracts",
    )
    parser.add_argument(
        "--communities",
        choices=METHODS,
        help=f"how the communities of --reports are found (default: {METHODS[0]})",
    )


def _add_text_options(parser: Parser) -> None:
    """Declare how files are read, and what is known of their texts."""
    parser.add_argument(
        "--plain",
        action="store_true",
        help="find passages by their text without Markdown, HTML and citation marks",
    )
    parser.add_argument(
        "--nearest",
        type=nearest_index,
        metavar="hnsw[:NAME=N,...]",
        help="find near passages by an approximate index, which is saved with the others "
        "(extra ann; its parameters are m, ef_construction, ef_search and threads)",
    )
    parser.add_argument(
        "--facts",
        type=Path,
        metavar="FILE",
        help="JSON: {document id: [[subject, relation, object], ...]}; without it, an index that "
        "is made again keeps those of texts that have not changed",
    )
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="the encoding of the files, such as cp1252 (default: what each declares, UTF-8, or "
        "what it looks like)",
    )
    parser.add_argument(
        "--processes",
        type=positive_integer,
        metavar="N",
        help="how many processes read at once, where there is much to read (default: one for each "
        "core that may be used)",
    )
    parser.add_argument(
        "--untrusted",
        action="store_true",
        help="strangers write what is read: no source has more than half of a context",
    )


def _add_extractors(parser: Parser) -> argparse._MutuallyExclusiveGroup:
    """Declare what facts are extracted by without a language model, and return their group."""
    extractors = parser.add_mutually_exclusive_group()
    extractors.add_argument(
        "--names",
        action="store_true",
        help="extract the names in prose, and facts about them, without a language model, for the "
        "recipes on facts (without being asked for: in prose that has many, as an encyclopaedia "
        "has; and the symbols of source code everywhere)",
    )
    extractors.add_argument(
        "--no-names",
        action="store_true",
        help="extract no names, even where prose has many, but the symbols of source code",
    )
    extractors.add_argument(
        "--terms",
        action="store_true",
        help="extract rare words and phrases instead, where all is written in lower case (and no "
        "symbols of source code)",
    )
    return extractors


def add_pattern_options(parser: Parser) -> None:
    """Declare which files below a folder are read."""
    parser.add_argument(
        "--include",
        action="append",
        metavar="PATTERN",
        help="read only the files below a folder that match, as in a .gitignore: '*.md', "
        "'guide/**', '!drafts/'; may come several times",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="leave out the files and folders that match; may come several times. Hidden files, "
        "tools' folders and saved indexes are left out anyway; no .gitignore is read",
    )


class Patterns(NamedTuple):
    """Which files below a folder are read, as `IndexConfig` has it."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]


def patterns_of(options: argparse.Namespace, before: Index | None = None) -> Patterns:
    """Return the patterns that were typed.

    Args:
        options: What was typed.
        before: An index whose patterns stay where none was typed.

    Raises:
        ValueError: A pattern cannot be read.
    """
    include, exclude = options.include or (), options.exclude or ()
    if before is not None and not (include or exclude):
        return Patterns(before.config.include, before.config.exclude)
    try:
        return Patterns(checked_patterns(INCLUDE, include), checked_patterns(EXCLUDE, exclude))
    except ValueError as error:
        raise ValueError(f"--{error}") from error


def nearest_index(text: str) -> HNSW:
    """Return the approximate index that `--nearest` describes.

    Example:
        >>> nearest_index("hnsw:m=32,ef_search=200").ef_search
        200
    """
    name, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    known = ("m", "ef_construction", "ef_search", "threads")
    wrong = [key for key, _, value in pairs if key not in known or not value.isdecimal()]
    if name != "hnsw" or wrong:
        raise argparse.ArgumentTypeError(
            f"hnsw is wanted, or hnsw: with numbers for {', '.join(known)}, "
            f"for instance hnsw:m=32,ef_search=200; not {text!r}"
        )
    parameters: dict[str, Any] = {key: int(value) for key, _, value in pairs}
    try:
        return HNSW(**parameters)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def open_source(options: argparse.Namespace) -> Index:
    """Return the index of `options.source`: opened if it is saved, else built.

    One in a database is read whole, one in a storage copied into the cache. A remark says how long
    reading took.

    Raises:
        FileNotFoundError: There is nothing at that path.
        ValueError: It is a saved index, and an option would change how it is built; or nothing
            came in on stdin.
    """
    if isinstance(options.source, list) or options.source == STDIN:
        return _read(options)
    if is_remote(options.source):
        refuse_building_options(options)
        with open_remote(options) as opened:
            return opened.load()
    if is_storage(options.source):
        refuse_building_options(options)
        return Index.load(options.source, embedder=options.embedder)
    path = existing_path(options.source)
    if is_index(path):
        refuse_building_options(options)
        return Index.load(path, embedder=options.embedder)
    _refuse_folder_of_indexes(path)
    if getattr(options, "no_cache", True):
        return _read(options)
    with keeping_what_is_read(path) as discard:
        if not any(getattr(options, name) for name in GENERATORS):
            return _read_or_cached(path, options, discard)
        index = _read(options)
        discard()
        return index


def _refuse_folder_of_indexes(path: Path) -> None:
    """Raise ValueError for a folder that has saved indexes and nothing else, as one of shards."""
    if path.is_dir() and (names := sorted(path.iterdir())) and all(map(is_index, names)):
        raise ValueError(
            f"{path} has {counted(len(names), 'saved index', 'saved indexes')} and nothing to "
            f'read: `clew ask {shlex.quote(str(path))}/* "..."` asks them as one'
        )


def _read_or_cached(path: Path, options: argparse.Namespace, discard: Callable[[], None]) -> Index:
    """Return the index of a folder, of which most may be as the last question on it found it.

    Args:
        path: The folder or file.
        options: What was typed.
        discard: Called once the index is in the cache.
    """
    place = place_of(path, options, BUILDING_OPTIONS)
    cached = open_cached(place, options.embedder)
    index = _read(options, cached)
    if index is cached:
        discard()
        return index
    try:
        keep(place, path, index)
        discard()
        if cached is None:
            print_remark("kept for the next question: `clew cache` shows where")
    except (OSError, ValueError) as error:  # such as a full disk, or metadata that cannot be saved
        print_remark(f"not kept for the next question: {error}")
    return index


def _read(options: argparse.Namespace, before: Index | None = None) -> Index:
    """Return the index of a folder, and say how long reading took.

    Args:
        options: What was typed.
        before: The index of the folder as it was.
    """
    begin = time.perf_counter()
    index = build_index(options, before=before)
    seconds = time.perf_counter() - begin
    passages = counted(_passage_count(index), "passage")
    count = f"{counted(len(index), 'document')} ({passages})"
    if before is None:
        is_single = isinstance(options.source, str) and options.source != STDIN
        kept = not is_single or not getattr(options, "no_cache", True)
        hint = "" if kept or seconds <= SLOW else f"; `clew index {options.source} -o DIR` keeps it"
        print_remark(f"read {count} in {seconds:.1f} s{hint}")
    elif index.documents is not before.documents:
        print_remark(f"read what has changed in {count} in {seconds:.1f} s")
    return index


def build_index(
    options: argparse.Namespace,
    extractor: Triples | None = None,
    *,
    savable: bool = False,
    before: Index | None = None,
    keeps_patterns: bool = False,
) -> Index:
    """Return the index of the folder or file `options.source`.

    Remarks name the files that were not read and the passages without facts, and count what
    patterns leave out.

    Args:
        options: What was typed.
        extractor: Extracts facts with a language model, unless `--names`, `--no-names` or
            `--terms` is given.
        savable: Whether it will be saved: what cannot be is refused before anything is embedded.
        before: The index of the same folder as it was. What has not changed is taken from there,
            if it is made in the same way.
        keeps_patterns: Whether the patterns of the index before stay where none was typed.
    """
    config = IndexConfig.from_keywords(
        **reading_keywords(
            options, extractor, savable=savable, before=before, keeps_patterns=keeps_patterns
        )
    )
    generators = generators_of(options)
    facts = None if options.facts is None else read_facts(options.facts)
    own, config = config.embedder, replace(config, embedder=with_vectors_kept(config.embedder))
    source, progress = _source_of(options), shows_progress()
    whole = before is not None and not before.failed  # what failed is asked for again
    others = [] if before is None else made_otherwise(before, config)
    if before is not None and whole and not generators and not others:
        now = replace(before.config, processes=config.processes, embedder=config.embedder)
        here = replace(before, config=now)
        index = here.sync(
            source,
            facts=facts,
            include=config.include,
            exclude=config.exclude,
            progress=progress,
        )
        if index is here:
            return before
    else:
        if keeps_patterns and others and not generators:
            names = ", ".join(TYPED.get(name, name) for name in others)
            print_remark(f"the index there was made with other options ({names}): it is made anew")
        index = Index.from_documents(source, facts=facts, config=config, progress=progress)
    unread = len(index.failed)  # passages; behind them come texts that were not written
    if generators:
        index = index.generate(*generators, progress=shows_progress())
    if config.embedder is not own:  # all its vectors are in the index now
        index = replace(index, config=replace(index.config, embedder=own))
    if index.usage:
        print_remark(f"the language model: {index.usage}")
    if before is not None and facts is None:
        _print_lost_facts(before, index)
    if index.skipped and (before is None or index.skipped != before.skipped):
        print_skipped(index.skipped)
    _print_failed(
        index.failed[:unread], f"no facts from {{}} of {_passage_count(index):,} passages"
    )
    _print_failed(index.failed[unread:], "texts that the model did not write: {}")
    return index


def _print_failed(failed: Sequence[tuple[str, str]], what: str) -> None:
    """Print a line on what a language model failed at, if it failed.

    Args:
        failed: The id and the reason of each.
        what: What failed, with a place for how many.
    """
    if failed:
        first, reason = failed[0]
        print_remark(
            f"{what.format(f'{len(failed):,}')}, for instance {first}: {reason}; the same command "
            "asks for these again"
        )


def reading_keywords(
    options: argparse.Namespace,
    extractor: Triples | None = None,
    *,
    savable: bool = False,
    before: Index | None = None,
    keeps_patterns: bool = False,
) -> IndexKeywords:
    """Return what an index is made with; see `build_index` for the arguments."""
    settings = index_settings(options.set)
    used = [name for name in ("names", "terms", *GENERATORS) if getattr(options, name)]
    check_used(settings, ["splitter", *used, *(["triples"] if extractor else [])], options)
    patterns = patterns_of(options, before if keeps_patterns else None)
    return {
        "embedder": _embedder_of(options, before),
        "extractor": _rules_of(options, settings) or extractor or FACTS,
        "splitter": splitter_of(options),
        "canonical": Plain() if options.plain else None,
        "nearest": options.nearest,
        "encoding": options.encoding,
        "untrusted": options.untrusted,
        "include": patterns.include,
        "exclude": patterns.exclude,
        "savable": savable,
        "processes": options.processes or usable_cores(),
    }


def _rules_of(
    options: argparse.Namespace, settings: Sequence[str]
) -> NamesAndSymbols | Symbols | Terms | None:
    """Return what extracts facts without a language model, where that is asked for."""
    if options.names:
        return configured("names", NamesAndSymbols(), settings)
    if options.no_names:
        return Symbols()
    return configured("terms", Terms(), settings) if options.terms else None


def _print_lost_facts(before: Index, index: Index) -> None:
    """Print a line on documents whose facts were given before, and are gone with their texts."""
    lost = [id for id in changed_facts(before, index) if not index.facts.get(id)]
    if lost:
        print_remark(
            f"{counted(len(lost), 'document')} lost the facts that were given before, for instance "
            f"{lost[0]}: give them again with --facts"
        )


def _embedder_of(options: argparse.Namespace, before: Index | None) -> Embedder | str | None:
    """Return what embeds; a model that was loaded already with the index before is not again."""
    loaded, name = None if before is None else before.config.embedder, options.embedder
    return loaded if loaded is not None and loaded.name == name else cast("str | None", name)


def splitter_of(options: argparse.Namespace) -> Splitter:
    """Return the splitter that cuts documents into passages."""
    tokens = TOKENS if options.tokens is None else options.tokens
    splitter = Splitter(tokens=tokens, sentences=options.sentences)
    return configured("splitter", splitter, index_settings(options.set))


def generators_of(options: argparse.Namespace) -> list[Generate]:
    """Return what writes texts on the passages, in the order in which they are written."""
    settings, model = index_settings(options.set), None
    if options.communities is not None and not options.reports:
        raise ValueError("--communities says how those of --reports are found: add --reports")
    if options.writer is not None:
        if not any(getattr(options, name) for name in GENERATORS):
            raise ValueError("--writer writes --reports, --summaries or --titles: add one of them")
        output = getattr(options, "output", None)
        answers = None if output is None else output.with_name(f"{output.name}.answers")
        model = models.model_of(options.writer, options, answers=answers)
    return [
        configured(name, make(model, options), settings)
        for name, make in GENERATORS.items()
        if getattr(options, name)
    ]


def read_facts(path: Path) -> dict[str, list[Any]]:
    """Return the facts in a JSON file, by document id.

    Raises:
        ValueError: The file is not JSON, or holds anything but lists by document id.
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(facts, dict) or not all(isinstance(own, list) for own in facts.values()):
        raise ValueError(
            f"{path} must hold one JSON object, {{document id: [[subject, relation, object], ...]}}"
        )
    return facts


def print_skipped(skipped: Sequence[tuple[str, str]]) -> None:
    """Print a line on what patterns left out, on what was not read, and what was read otherwise.

    Args:
        skipped: As an index has it.
    """
    remarks, others = pattern_remarks(skipped)
    otherwise = [(path, READ.sub("", why, count=1)) for path, why in others if READ.match(why)]
    unread = [(path, why) for path, why in others if not READ.match(why)]
    for label, files in (("not read", unread), ("read otherwise", otherwise)):
        remarks += [skipped_files(files, label)] if files else []
    for remark in remarks:
        print_remark(remark)


def skipped_files(files: Sequence[tuple[str, str]], label: str = "not read") -> str:
    """Return one line on the files that were not read, or not as their names say.

    Args:
        files: Path and reason of each.
        label: What the line begins with.

    Returns:
        How many files for which reason, and the first names of each, with the folders of those
        that have one name.

    Example:
        >>> skipped_files([("a/b/c.md", "empty"), ("a/d/c.md", "empty"), ("a/logo", "binary")])
        'not read: 2 empty (b/c.md, d/c.md); 1 binary (logo)'
    """
    groups = []
    for reason, number in Counter(reason for _, reason in files).most_common():
        paths = [Path(path) for path, own in files if own == reason]
        times = Counter(path.name for path in paths)
        names = [
            path.name if times[path.name] == 1 else "/".join(path.parts[-2:])
            for path in paths[:MAX_NAMES]
        ]
        more = ", …" if number > MAX_NAMES else ""
        groups.append(f"{number:,} {reason} ({', '.join(names)}{more})")
    return f"{label}: {'; '.join(groups)}"


def one_or_several(sources: list[str], *, indexes: bool = False) -> str | list[str]:
    """Return what was named: alone, or as a list of folders and files, or of indexes.

    Args:
        sources: What was typed.
        indexes: Whether all of several may be indexes.

    Raises:
        ValueError: There is stdin among several, or an index among folders and files.
    """
    if len(sources) == 1:
        return sources[0]
    if STDIN in sources:
        raise ValueError("stdin is asked alone; several sources are folders and files")
    saved = [source for source in sources if is_saved(source)]
    if saved and not (indexes and len(saved) == len(sources)):
        also = ", or all of them are indexes" if indexes else ""
        raise ValueError(
            f"{shown(saved[0])} is an index, which is asked alone; several sources are folders and "
            f"files{also}"
        )
    return sources


def is_saved(source: str | list[str]) -> bool:
    """Return whether a source is a saved index, or several."""
    if isinstance(source, list):
        return all(map(is_saved, source))
    if not source:
        return False
    return is_remote(source) or is_storage(source) or is_index(Path(source).expanduser())


def saved_place(source: str) -> Path | str | None:
    """Return where what is named is saved, so that what others save there can be followed.

    That is a folder, or the address of a storage; None for a database, and for what is no index.

    Raises:
        FileNotFoundError: There is nothing at that path.
    """
    if is_remote(source) or is_storage(source):
        return source if is_storage(source) else None
    path = existing_path(source)
    return path if is_index(path) else None


def _source_of(options: argparse.Namespace) -> Path | list[Path] | list[Document]:
    if options.source == STDIN:
        return [_read_stdin(options.encoding)]
    # What is kept for the next question is found, and opens, from any folder.
    place = _from_anywhere if hasattr(options, "no_cache") else Path
    if isinstance(options.source, list):
        return [place(existing_path(source)) for source in options.source]
    return place(existing_path(options.source))


def _from_anywhere(path: Path) -> Path:
    """Return a path that is the same however it was typed; a file keeps the name that it has."""
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def _read_stdin(encoding: str | None) -> Document:
    """Return what comes in on stdin, read as a file of text is, with the same remarks.

    Args:
        encoding: The name of its encoding; None to find it out.

    Raises:
        ValueError: Nothing comes in, or what comes in is no text.
    """
    from clew.read.formats import text  # which no other source needs here
    from clew.read.formats.source_file import SourceFile, UnreadableFileError

    wanted = "give a folder, a file or an index to read"
    if sys.stdin is None:  # as behind `<&-`
        raise ValueError(f"stdin is closed: pipe a text to it, or {wanted}")
    raw = sys.stdin.buffer.read()
    if not raw.strip():
        raise ValueError(f"nothing came in on stdin: {wanted}")
    file = SourceFile(Path(STDIN_NAME), STDIN_NAME, raw, encoding=encoding)
    try:
        (document,) = text.read(file)
    except UnreadableFileError as error:
        raise ValueError(f"what came in on stdin is no text ({error}): {wanted}") from error
    print_skipped(file.skipped)
    return Document(STDIN_NAME, document.text)  # no file has this name


def existing_path(source: str) -> Path:
    """Return the path.

    Raises:
        FileNotFoundError: There is nothing at that path.
    """
    path = Path(source).expanduser()
    if not source or not path.exists():  # "" is what a shell makes of a variable without a value
        raise FileNotFoundError(f"there is no file or folder {source!r}")
    return path


def check_writable_folder(folder: Path) -> None:
    """Check that a folder can be made or written to, before the work that it is for.

    Raises:
        OSError: A part of its path is a file, or writing is not allowed there.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "this is a file, not a folder", str(existing))
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise OSError(error.errno, f"cannot be written to: {error.strerror}", folder) from error


def refuse_building_options(options: argparse.Namespace) -> None:
    """Refuse options that change how an index is built: this one is built already."""
    given = ("tokens", "facts", "nearest", "encoding", INCLUDE, EXCLUDE, "writer", "communities")
    typed = [name for name in given if getattr(options, name) is not None]
    typed += [
        name
        for name in ("names", "no_names", "terms", "plain", "sentences", "untrusted", *GENERATORS)
        if getattr(options, name)
    ]
    typed += ["set"] * bool(index_settings(options.set))
    if typed:
        source = options.source
        raise ValueError(
            f"{shown(source if isinstance(source, str) else source[0])} is a saved index: "
            f"--{typed[0].replace('_', '-')} belongs to `clew index`, which builds one"
        )


def _passage_count(index: Index) -> int:
    return len(index.graph.rows("passage"))
