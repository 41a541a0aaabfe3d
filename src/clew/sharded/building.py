"""Shards built by several machines at once: each reads, links and saves documents of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Any, Unpack

from clew.document import Document
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.given_facts import checked_facts, facts_left
from clew.index.index import Index
from clew.index.options import documents_keywords
from clew.read import Triple
from clew.remote.address import is_address
from clew.remote.remote_index import RemoteIndex
from clew.sharded.partition import divide, partition_by_hash

Target = str | os.PathLike[str]


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
    a failure the same call goes on: shards that were saved are only compared.

    Args:
        documents: As in `Index.from_documents`. They are read by the process that asks.
        targets: A folder or the address of an index in a database for each shard. The machines of
            the executor reach them.
        shard_of: The shard of each document by its id, as `partition_by_components` or
            `read_partition` give it. None is `partition_by_hash`.
        facts: As in `Index.from_documents`.
        executor: Builds each shard in one call, such as Dask's `client.get_executor(retries=3)` or
            `clew.cluster.RayExecutor()`. None builds one after the other.
        **keywords: The fields of `clew.index.IndexConfig`, which an executor has to be able to
            send: an embedder by its name, or a function of a module.

    Raises:
        RuntimeError: A shard was not built; the others were, and its error is the cause.
        ValueError: There is no target, a shard has no document, or a document's shard has no
            target.

    Example:
        >>> import tempfile
        >>> texts = [Document(f"{i}", f"Ferry {i} sails to Corfu.") for i in range(20)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sum(build_shards(texts, [f"{folder}/one", f"{folder}/two"]))
        20
    """
    config = IndexConfig.from_keywords(None, **keywords)
    loaded = list(config.load(documents).documents)
    given = None if facts is None else checked_facts(loaded, facts)
    parts = _parts(loaded, targets, shard_of)
    work: list[tuple[Any, ...]] = [
        (part, str(target), _facts_of(part, given), dict(keywords))
        for part, target in zip(parts, targets, strict=True)
    ]
    if executor is None:
        outcomes: list[Future[None]] = [_done(_bring, *arguments) for arguments in work]
    else:
        outcomes = [executor.submit(_bring, *arguments) for arguments in work]
    for target, outcome in zip(targets, outcomes, strict=True):
        error = outcome.exception()  # waits: no shard is left half-built when this returns
        if error is not None:
            shown = "an index in a database" if is_address(target) else repr(os.fspath(target))
            for other in outcomes:
                other.exception()
            raise RuntimeError(
                f"the shard in {shown} was not built: {error}; what was built stays, and the same "
                "call goes on"
            ) from error
    return tuple(map(len, parts))


def _parts(
    documents: Sequence[Document], targets: Sequence[Target], shard_of: Mapping[str, int] | None
) -> list[list[Document]]:
    if not targets:
        raise ValueError("build_shards needs a target for each shard; none came")
    if shard_of is None:
        shard_of = partition_by_hash((one.id for one in documents), len(targets))
    parts = divide(documents, shard_of)
    if len(parts) > len(targets):
        raise ValueError(
            f"documents go to {len(parts)} shards, and there are {len(targets)} targets"
        )
    parts += [[] for _ in range(len(targets) - len(parts))]
    empty = [place for place, part in enumerate(parts) if not part]
    if empty:
        raise ValueError(
            f"shard {empty[0]} has no document: use fewer shards, or another partition"
        )
    return parts


def _facts_of(
    documents: Sequence[Document], facts: dict[str, list[Triple]] | None
) -> dict[str, list[Triple]] | None:
    return None if facts is None else {**facts_left(facts, documents)}


def _done(work: Callable[..., None], *arguments: object) -> Future[None]:
    """Return the outcome of work that is done now."""
    future = Future[None]()
    try:
        work(*arguments)
        future.set_result(None)
    except Exception as error:  # noqa: BLE001 - it is reported with the shard's name
        future.set_exception(error)
    return future


def _bring(
    documents: list[Document],
    target: str,
    facts: dict[str, list[Triple]] | None,
    keywords: IndexKeywords,
) -> None:
    """Make a shard hold these documents and no others."""

    def up_to_date(index: Index) -> Index:
        return index.sync(documents, facts=facts)

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
            return
    elif os.path.isdir(target) and os.listdir(target):  # noqa: PTH112, PTH208 - any path
        before = Index.load(target, **parts)
        after = up_to_date(before)
        if after is not before:
            after.save(target)
        return
    Index.from_documents(documents, facts=facts, **keywords).save(target)
