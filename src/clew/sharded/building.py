"""Shards that are built one after the other, or by several machines at once.

Each is read, linked and saved by itself. So the memory that files take is that of the largest shard
and not of them all.
"""

from __future__ import annotations

import gc
import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, NamedTuple, Unpack

from clew.document import Document
from clew.graph import release_free_memory
from clew.index.changes import NoDocumentsError
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.given_facts import checked_facts, facts_left
from clew.index.index import Index
from clew.index.options import documents_keywords
from clew.index.saving import is_made_by
from clew.read import Triple
from clew.read.file_reading import FileToRead, ListedFiles
from clew.read.patterns import FileChoice
from clew.read.sources import list_files
from clew.remote.address import is_address
from clew.remote.remote_index import RemoteIndex
from clew.sharded.partition import divide, partition_by_hash
from clew.store import delete, is_index

MAX_SHOWN = 3  # targets and files, in a message

Target = str | os.PathLike[str]
Part = ListedFiles | list[Document]
"""What goes to one shard: its files, still unread, or its documents."""

Skipped = tuple[tuple[str, str], ...]
"""(source, reason) for everything that was left out."""


class EmptyShardWarning(UserWarning):
    """Shards have no document, so no index is at their targets.

    Attributes:
        targets: These targets, as texts.
        skipped: (source, reason) for what was left out of them, which no index has.
    """

    def __init__(self, targets: Sequence[str], skipped: Skipped) -> None:
        self.targets, self.skipped = tuple(targets), skipped
        some = ", ".join(map(_shown, targets[:MAX_SHOWN]))
        more = f" and {len(targets) - MAX_SHOWN:,} more" if len(targets) > MAX_SHOWN else ""
        rest = f"; left out: {'; '.join(map(': '.join, skipped[:MAX_SHOWN]))}" if skipped else ""
        super().__init__(
            f"no document goes to {some}{more}: no index is there, and the others have all{rest}"
        )


class _Brought(NamedTuple):
    """How many documents a shard has; what was left out, where it has none."""

    number: int
    skipped: Skipped = ()


@documents_keywords(IndexConfig)
def build_shards(
    documents: object,
    targets: Sequence[Target],
    *,
    shard_of: Mapping[str, int] | None = None,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    executor: Executor | None = None,
    **keywords: Unpack[IndexKeywords],
) -> tuple[int, ...]:
    """Build an index of each shard's documents and save it; return how many documents each has.

    Where a target holds a shard already, what has changed is added, replaced and deleted. So after
    a failure the same call goes on: shards that were saved are only compared. One that was made
    with other keywords is built anew. Where a shard has no document, `EmptyShardWarning` says so:
    no index is made for it, and one in a folder, whose documents are gone, is deleted.

    Where the documents are folders and files alone, and neither `shard_of` nor `facts` is given,
    the files are listed first, and those of a shard are read when it is built. All documents of a
    file go to one shard, by the hash of the file's id. Ids are those of one index of all files.
    What checks documents against one another, such as for an id that comes twice or a document that
    is inside itself, looks at those of a shard. Links between files of different shards are not
    made. A file that has not changed since its shard was saved is not opened. What was left out
    when the files were listed is in `Index.skipped` of the first shard with files, and what a file
    says of itself in that of its own. Anything else is loaded whole, before the first shard is
    built.

    Args:
        documents: As in `Index.from_documents`. Files are read by the process that builds their
            shard, all else by the one that asks.
        targets: A folder or the address of an index in a database for each shard. The machines of
            the executor reach them, and the files by the same paths.
        shard_of: The shard of each document by its id, as `partition_by_components` or
            `read_partition` give it. None is `partition_by_hash`, of files where these are listed.
        facts: As in `Index.from_documents`.
        executor: Builds each shard in one call, such as Dask's `client.get_executor(retries=3)` or
            `clew.cluster.RayExecutor()`. None builds one after the other, and lets the memory of
            each go before the next is read.
        **keywords: The fields of `clew.index.IndexConfig`, which an executor has to be able to
            send: an embedder by its name, or a function of a module.

    Raises:
        RuntimeError: A shard was not built; the others were, and its error is the cause.
        ValueError: There is no target, no document, or a document's shard has no target.
        FileNotFoundError: A path leads nowhere.

    Example:
        >>> import tempfile
        >>> texts = [Document(f"{i}", f"Ferry {i} sails to Corfu.") for i in range(20)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sum(build_shards(texts, [f"{folder}/one", f"{folder}/two"]))
        20
    """
    if not targets:
        raise ValueError("build_shards needs a target for each shard; none came")
    config = IndexConfig.from_keywords(None, **keywords)
    parts, given = _divided(documents, len(targets), shard_of, facts, config)
    work: list[tuple[Any, ...]] = [
        (part, str(target), _facts_of(part, given), dict(keywords))
        for part, target in zip(parts, targets, strict=True)
    ]
    brought = _outcomes(executor, _bring, work)
    empty = [str(target) for target, one in zip(targets, brought, strict=True) if not one.number]
    if empty:
        skipped = tuple(each for one in brought for each in one.skipped)
        if len(empty) == len(targets):
            raise NoDocumentsError(skipped)
        _outcomes(executor, _empty, [(None, target) for target in empty])
        warnings.warn(EmptyShardWarning(empty, skipped), stacklevel=2)
    return tuple(one.number for one in brought)


def _outcomes(
    executor: Executor | None, of_shard: Callable[..., _Brought], work: Sequence[tuple[Any, ...]]
) -> list[_Brought]:
    """Return what comes of the work on each shard, once all of it is done.

    Args:
        executor: As in `build_shards`.
        of_shard: Does the work on one.
        work: Its arguments for each shard, of which the second is the target.

    Raises:
        RuntimeError: The work on a shard failed.
    """
    if executor is None:
        outcomes = [_done(of_shard, *arguments) for arguments in work]
    else:
        outcomes = [executor.submit(of_shard, *arguments) for arguments in work]
    for arguments, outcome in zip(work, outcomes, strict=True):
        error = outcome.exception()  # waits: no shard is left half-built when this returns
        if error is not None:
            for other in outcomes:
                other.exception()
            raise RuntimeError(
                f"the shard in {_shown(arguments[1])} was not built: {error}; what was built "
                "stays, and the same call goes on"
            ) from error
    return [outcome.result() for outcome in outcomes]


def _shown(target: str) -> str:
    return "an index in a database" if is_address(target) else repr(target)


def _divided(
    documents: object,
    n: int,
    shard_of: Mapping[str, int] | None,
    facts: Mapping[str, Iterable[Triple]] | None,
    config: IndexConfig,
) -> tuple[Sequence[Part], dict[str, list[Triple]] | None]:
    """Return what goes to each of n shards, and the facts that were given."""
    if isinstance(documents, Iterator):
        documents = list(documents)  # it is gone through twice
    if shard_of is None and facts is None:
        choice = FileChoice(config.include, config.exclude)
        listed = list_files(documents, config.untrusted, config.encoding, choice)
        if listed is not None:
            return _parts_of_files(listed, n), None
    loaded = list(config.load(documents).documents)
    given = None if facts is None else checked_facts(loaded, facts)
    return _parts_of_documents(loaded, n, shard_of), given


def _parts_of_files(listed: ListedFiles, n: int) -> list[ListedFiles]:
    shard_of = partition_by_hash((file.id for file in listed.files), n)
    parts: list[list[FileToRead]] = [[] for _ in range(n)]
    for file in listed.files:
        parts[shard_of[file.id]].append(file)
    if not listed.files:
        raise NoDocumentsError(listed.skipped)
    first = next(part for part in parts if part)
    return [ListedFiles(tuple(part), listed.skipped if part is first else ()) for part in parts]


def _parts_of_documents(
    documents: Sequence[Document], n: int, shard_of: Mapping[str, int] | None
) -> list[list[Document]]:
    if shard_of is None:
        shard_of = partition_by_hash((one.id for one in documents), n)
    parts = divide(documents, shard_of)
    if len(parts) > n:
        raise ValueError(f"documents go to {len(parts)} shards, and there are {n} targets")
    return [*parts, *([] for _ in range(n - len(parts)))]


def _facts_of(part: Part, facts: dict[str, list[Triple]] | None) -> dict[str, list[Triple]] | None:
    if facts is None or isinstance(part, ListedFiles):
        return None
    return {**facts_left(facts, part)}


def _done(work: Callable[..., _Brought], *arguments: object) -> Future[_Brought]:
    """Return the outcome of work that is done now."""
    future = Future[_Brought]()
    try:
        future.set_result(work(*arguments))
    except Exception as error:  # noqa: BLE001 - it is reported with the shard's name
        _let_go(error)
        future.set_exception(error)
    return future


def _let_go(error: BaseException | None) -> None:
    """Forget what the frames of an error hold, such as the documents of a shard."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _bring(
    documents: Part,
    target: str,
    facts: dict[str, list[Triple]] | None,
    keywords: IndexKeywords,
) -> _Brought:
    """Make a shard hold these documents and no others; one that would have none stays as it is."""
    try:
        return _Brought(_brought(documents, target, facts, keywords))
    except NoDocumentsError as error:
        return _Brought(0, error.skipped)
    finally:  # before the next shard is read
        gc.collect()
        release_free_memory()


def _empty(_: None, target: str) -> _Brought:
    """Delete the index of a shard that has no document any more."""
    if is_address(target):
        with suppress(KeyError), RemoteIndex.open(target):
            raise ValueError(
                "no document is left for it: delete it in the database, or divide the documents "
                "among fewer shards"
            )
    elif is_index(target):
        delete(target)
    return _Brought(0)


def _brought(
    documents: Part,
    target: str,
    facts: dict[str, list[Triple]] | None,
    keywords: IndexKeywords,
) -> int:
    if isinstance(documents, ListedFiles):
        _check_files_are_here(documents)
    number, config = 0, IndexConfig.from_keywords(None, **keywords)

    def up_to_date(index: Index) -> Index:
        nonlocal number
        if is_made_by(index, config):
            changed = index.sync(
                documents, facts=facts, include=config.include, exclude=config.exclude
            )
        else:
            changed = Index.from_documents(documents, facts=facts, **keywords)
        number = len(changed)
        return changed

    parts: IndexKeywords = {}
    if keywords.get("embedder") is not None:
        parts["embedder"] = keywords["embedder"]
    if is_address(target):
        try:
            opened = RemoteIndex.open(target, **parts)
        except KeyError:  # there is none of this name yet
            pass
        else:
            with opened:
                opened.change(up_to_date)
            return number
    elif is_index(target):
        before = Index.load(target, **parts)
        after = up_to_date(before)
        if after is not before:
            after.save(target)
        return number
    index = Index.from_documents(documents, facts=facts, **keywords)
    index.save(target)
    return len(index)


def _check_files_are_here(listed: ListedFiles) -> None:
    """Check that this machine has the files: what it did not see would be left out."""
    for file in listed.files:
        if not os.path.lexists(file.path):
            raise FileNotFoundError(
                f"there is no file {str(file.path)!r} any more, or not on the machine that builds "
                "the shard: where machines have no files in common, give the documents, "
                "clew.read.load_documents(...).documents"
            )
