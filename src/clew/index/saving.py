"""An index as the store keeps it, and back: the store knows no index, and an index no file."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from clew import store
from clew.algorithms.nearest.hnsw import HNSW
from clew.garbage import collecting_rarely
from clew.graph import EMPTY
from clew.index.config import IndexConfig
from clew.index.contents import IndexContents
from clew.index.learning import Learned
from clew.index.options import check_names, option_names
from clew.index.weights import with_weights_as_built, with_weights_of_now
from clew.read.patterns import EXCLUDE, INCLUDE, checked_patterns
from clew.storage.address import DATABASE_SCHEMES as DATABASE_SCHEMES
from clew.storage.address import is_storage, without_password
from clew.store.config_record import describe_config
from clew.store.file_readings import savable_readings
from clew.store.loading import DEFAULT_VERIFY, Verify
from clew.store.saved_index import SavedAs, SavedIndex

if TYPE_CHECKING:
    from clew.model import AnswerCache

NOT_OF_THE_RESULT = (  # but of which documents come, or of the machine, or compared by itself
    *("include", "exclude", "savable", "processes", "embedder"),
)
LOGGER = logging.getLogger("clew.index")
ANSWERS = "answers of language models"  # the attachment's name


def saved_index(index: IndexContents, attachments: Mapping[str, str] = EMPTY) -> SavedIndex:
    """Return the record of an index that the store saves.

    Args:
        index: What is saved.
        attachments: Texts that are saved with it, by name.
    """
    index = with_weights_as_built(index)
    config = {name: getattr(index.config, name) for name in option_names(IndexConfig)}
    del config["embedder"]  # saved as what it is, with the vectors that it made
    del config["processes"]  # of the machine, not of the index
    answers = {key: text for cache in _caches(index) for key, text in cache.in_memory().items()}
    if answers:
        attachments = {**attachments, ANSWERS: json.dumps(answers)}
    return SavedIndex(
        graph=index.graph,
        config=config,
        embedder=index.embedder,
        fitted=index.fitted,
        changed=index.changed,
        documents=index.documents,
        facts=index.facts,
        extracted=index.extracted,
        knowledge=index.knowledge,
        skipped=index.skipped,
        files=savable_readings(index.files, index.document_of),
        failed=index.failed,
        strengths=index.learned.strengths,
        built_strengths=index.learned.built,
        attachments=attachments,
        saved_as=index.saved_as if isinstance(index.saved_as, SavedAs) else None,
    )


def save_contents(
    index: IndexContents,
    path: str | os.PathLike[str],
    attachments: Mapping[str, str] = EMPTY,
    *,
    beside: bool = True,
) -> None:
    """Save an index, which remembers where: the next save there writes what has changed.

    Args:
        index: What is saved.
        path: As in `clew.store.save`, or the address of a database or a storage.
        attachments: Texts that are saved with it, by name.
        beside: As in `clew.store.save`.

    Where another was saved there since the index was loaded or saved, the log says so.
    """
    if is_remote(path):
        remote = import_module("clew.remote")  # by its name: it stands above, and makes indexes
        remote.save_remote(index, path)
        return
    record = saved_index(index, attachments)
    if is_storage(path):
        saved = _storage().publish(record, path)
    else:
        saved = store.save(record, path, beside=beside)
    before, now = index.follows, _generation_of(saved)
    for name, value in (("saved_as", saved), ("follows", now)):
        object.__setattr__(index, name, value)  # no part of its value, as what a graph keeps
    if before is not None and before[0] == now[0] and _came_others(saved, before[1]):
        shown = without_password(path) if isinstance(path, str) else os.fspath(path)
        LOGGER.warning(  # no Python warning: where those are errors, the save would seem to fail
            "%s was saved by another since this index was loaded or saved there, and the changes "
            "of that save are not in this one: generation %d follows generation %d. The one before "
            "it is still there: clew.Index.load(path, generation=%d). Load the index again before "
            "each change, or have one process make all of them, such as `clew serve --writable`",
            shown,
            now[1],
            before[1],
            now[1] - 1,
        )


def _came_others(saved: SavedAs, before: int) -> bool:
    """Return whether generations between an earlier one and this are more than others' files."""
    if saved.manifest.generation <= before + 1:
        return False
    return bool(saved.address) or not store.are_the_same(saved, before)


def _generation_of(saved: SavedAs) -> tuple[str, int]:
    """Return the place where an index is saved, and the newest generation known of there."""
    return saved.address or str(saved.folder), max(saved.manifest.generation, saved.newest)


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the address of a database.

    Example:
        >>> is_remote("postgresql://host/db?index=handbook"), is_remote("handbook")
        (True, False)
    """
    return isinstance(path, str) and path.startswith(
        tuple(f"{scheme}://" for scheme in DATABASE_SCHEMES)
    )


def is_newest_saved(index: IndexContents) -> bool:
    """Return whether nothing newer was saved where an index was saved to, or loaded from.

    That takes as long as listing a folder, or two requests of a storage. It is also where the index
    was neither.

    Raises:
        OSError: The storage cannot be reached.
    """
    saved = index.saved_as
    if not isinstance(saved, SavedAs):
        return True
    if saved.address:
        return bool(_storage().is_newest_published(saved))
    return store.is_newest(saved)


@collecting_rarely()
def load_contents(
    path: str | os.PathLike[str],
    keywords: Mapping[str, object],
    verify: Verify = DEFAULT_VERIFY,
    generation: int | None = None,
) -> tuple[IndexContents, Mapping[str, str]]:
    """Return what a saved index holds, and the texts that were saved with it.

    Generators that keep the answers of a language model in memory know what they knew then, so that
    nothing is paid for twice.

    Args:
        path: As in `clew.store.load`, or the address of a storage.
        keywords: Fields of `IndexConfig` that are not clew's own.
        verify: As in `clew.store.load`.
        generation: As in `clew.store.load`.
    """
    if is_remote(path):
        raise ValueError(
            "an index in a database is opened, not loaded: call clew.remote.RemoteIndex.open"
            "(address), and its `load` for all of it in memory"
        )
    check_names(keywords, option_names(IndexConfig), "an index")
    parts = {name: value for name, value in keywords.items() if value is not ...}
    load_saved = _storage().load_replica if is_storage(path) else store.load
    saved = load_saved(path, parts, verify=verify, generation=generation)
    contents, attachments = contents_of(saved), dict(saved.attachments)
    answers = json.loads(attachments.pop(ANSWERS, "{}"))
    for cache in _caches(contents):
        cache.restore(answers)
    return contents, attachments


def is_made_by(index: IndexContents, config: IndexConfig) -> bool:
    """Return whether an index is made of its documents as this configuration would make it.

    Args:
        index: An index, which may have been loaded.
        config: What another one would be made with.
    """
    return not made_otherwise(index, config)


def made_otherwise(index: IndexContents, config: IndexConfig) -> list[str]:
    """Return the names of the options by which an index is made otherwise than a configuration has.

    Args:
        index: As in `is_made_by`.
        config: Likewise.
    """
    names = [name for name in option_names(IndexConfig) if name not in NOT_OF_THE_RESULT]
    before, now = (
        describe_config({name: getattr(each, name) for name in names})
        for each in (index.config, config)
    )
    others = [name for name in names if before[name] != now[name]]
    own = [each.embedder and each.embedder.name for each in (index.config, config)]
    return [*others, *["embedder"] * (own[0] != own[1])]


def contents_of(saved: SavedIndex) -> IndexContents:
    """Return what an index holds whose record the store has loaded.

    Raises:
        ValueError: The index was made with an option that this version does not have.
    """
    values: dict[str, Any] = {"embedder": None if saved.fitted else saved.embedder, **saved.config}
    try:
        check_names(values, option_names(IndexConfig), "an index of this version of clew")
    except TypeError as error:
        raise ValueError(f"{error}: upgrade clew to open it") from error
    _check_kinds(values)
    contents = IndexContents(
        graph=saved.graph,
        config=IndexConfig(**values),
        documents=saved.documents,
        facts=saved.facts,
        fitted_embedder=saved.embedder if saved.fitted else None,
        extracted=saved.extracted,
        knowledge=saved.knowledge,
        skipped=saved.skipped,
        files=saved.files,
        failed=saved.failed,
        learned=Learned(saved.strengths, saved.built_strengths),
        changed=saved.changed,
        saved_as=saved.saved_as,
        follows=None if saved.saved_as is None else _generation_of(saved.saved_as),
    )
    return with_weights_of_now(contents)


def _check_kinds(values: Mapping[str, object]) -> None:
    """Check that options are of the kinds that an index has, before anything is done with them.

    Raises:
        ValueError: One is not.
    """
    for option in fields(IndexConfig):
        value, usual = values.get(option.name, option.default), option.default
        if isinstance(usual, (bool, int, tuple)):
            is_right = type(value) is type(usual)
            if is_right and option.name in (INCLUDE, EXCLUDE):
                checked_patterns(option.name, value)
        elif option.name == "encoding":
            is_right = isinstance(value, str | None)
        elif option.name == "nearest":
            is_right = isinstance(value, HNSW | None)
        elif option.name in ("extractor", "splitter"):
            is_right = value is None or callable(value) or hasattr(value, "triples")
        else:  # the store has looked at it
            is_right = True
        if not is_right:
            raise ValueError(f"the index is damaged: its option {option.name} is {value!r}")


def _caches(index: IndexContents) -> Iterator[AnswerCache]:
    """Yield the caches of the answers that the generators of an index were given."""
    if not index.generators:
        return
    from clew.model import AnswerCache

    for generator in index.generators:
        for holder in (generator, getattr(generator, "model", None)):
            cache = getattr(holder, "answers", None)
            if isinstance(cache, AnswerCache):
                yield cache


def _storage() -> ModuleType:
    """Return the room of storages, which is loaded where an address is used."""
    return import_module("clew.storage.replica")
