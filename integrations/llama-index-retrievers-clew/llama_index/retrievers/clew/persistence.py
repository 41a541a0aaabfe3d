"""A retriever on the disk: clew's index, and in the same generation the nodes and the options.

clew saves the texts, vectors, facts and edges. What only LlamaIndex knows of a node (its
relationships, templates and excluded keys) is attached as the framework's own docstore, and the
options as JSON. One manifest lists and checks all of it, so there is never an index with the nodes
or the filters of another.

Before version 0.2 nodes and options were two files beside the index, which `OldLayout` reads.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.clew.asking_retriever import NAMES
from llama_index.retrievers.clew.candidates import without_vector

import clew
from clew.adapters import IndexConfig, check_savable, load_index, save_index

INDEX = "clew_index"
NODES, OPTIONS = "llama_index.nodes", "llama_index.options"
"""The names of what is attached to the index."""

Verify = Literal["changed", "full", "size"]
Nodes = dict[str, BaseNode]


class UncheckedFilesWarning(UserWarning):
    """Nodes and options were opened that no checksum covers."""


def save(
    folder: str | Path,
    index: clew.Index,
    nodes: Mapping[str, BaseNode],
    options: Mapping[str, object],
) -> None:
    """Save to a folder, which may hold the files of a `StorageContext` too.

    Args:
        folder: Where to save.
        index: What is asked.
        nodes: The caller's nodes, by id.
        options: The options of the retriever, by LlamaIndex's names. The `llm` is not saved.

    Raises:
        TypeError: A recipe that is a method of one's own.
        ValueError: What `clew.Index.save` refuses. Nothing is written then.
    """
    root, recipe, filters = Path(folder), options["recipe"], options["filters"]
    if not isinstance(recipe, str):
        raise TypeError(
            "a recipe is saved by its name: with_options(recipe=…) before, and after loading, "
            f"in the place of {recipe!r}"
        )
    plain = {name: value for name, value in options.items() if name not in ("filters", "llm")}
    plain["filters"] = None
    if isinstance(filters, MetadataFilters):
        plain["filters"] = filters.model_dump(mode="json")
    check_savable(index.documents)
    store = SimpleDocumentStore()
    store.add_documents([without_vector(node) for node in nodes.values()])
    attachments = {NODES: json.dumps(store.to_dict()), OPTIONS: json.dumps(plain)}
    save_index(index, root / INDEX, attachments)
    OldLayout(root).delete()


def emptied(config: IndexConfig) -> clew.Index:
    """Return the index to save where every node was deleted: it holds nothing.

    Args:
        config: What the index was made with, and will be again when nodes come.
    """
    nothing = clew.Index.from_graph(clew.Graph.of([]), embedder=config.embedder)
    return replace(nothing, config=config)


def load(
    folder: str | Path,
    keywords: Mapping[str, object],
    verify: Verify = "changed",
    generation: int | None = None,
) -> tuple[clew.Index, Nodes, dict[str, Any]]:
    """Return the index, the nodes by id, and the options that were saved.

    Args:
        folder: Where they were saved.
        keywords: What `clew.Index.load` is given.
        verify: As in `clew.Index.load`.
        generation: As in `clew.Index.load`.

    Raises:
        FileNotFoundError: No retriever was saved there.
        ValueError: What `clew.Index.load` refuses; an index that was saved without a retriever; or
            nodes in the old layout that are not those of the index.
    """
    root = Path(folder)
    if not (root / INDEX).is_dir():
        raise FileNotFoundError(f"no retriever was saved in {str(root)!r}: it has no {INDEX}")
    try:
        index, attached = load_index(root / INDEX, keywords, verify=verify, generation=generation)
    except ValueError as error:
        raise ValueError(_with_our_names(str(error))) from error
    if NODES in attached and OPTIONS in attached:
        return index, _nodes_of(attached[NODES]), _options_of(attached[OPTIONS])
    old = OldLayout(root)
    if old.is_there:
        nodes, options = old.read(index)
        return index, nodes, options
    raise ValueError(
        f"the index in {str(root / INDEX)!r} was saved without a retriever: persist the retriever "
        "again, or ask the index as ClewRetriever(clew.Index.load(...))"
    )


@dataclass(frozen=True)
class OldLayout:
    """Nodes and options as two files beside the index, as before version 0.2.

    Attributes:
        root: The folder that was persisted to.
    """

    root: Path

    @property
    def files(self) -> tuple[Path, Path]:
        """The files of the nodes and of the options."""
        return self.root / "clew_nodes.json", self.root / "clew_retriever.json"

    @property
    def is_there(self) -> bool:
        """Whether both files are."""
        return all(file.is_file() for file in self.files)

    def read(self, index: clew.Index) -> tuple[Nodes, dict[str, Any]]:
        """Return the nodes by id and the options.

        Args:
            index: The index beside them.

        Raises:
            ValueError: They cannot be read, or the nodes are those of another index.
        """
        nodes_file, options_file = self.files
        try:
            nodes = _nodes_of(nodes_file.read_text("utf-8"))
            options = _options_of(options_file.read_text("utf-8"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{nodes_file} or {options_file} is damaged: {error!r}; make the retriever again "
                "and persist it"
            ) from error
        _check_nodes(nodes_file, nodes, index)
        warnings.warn(
            f"{nodes_file} and {options_file} are of an earlier version and have no checksum: "
            f"check that filters={options['filters']!r} is what was meant, and persist the "
            "retriever again",
            UncheckedFilesWarning,
            stacklevel=4,
        )
        return nodes, options

    def delete(self) -> None:
        """Delete the files: a generation of the index has what they had."""
        for file in self.files:
            file.unlink(missing_ok=True)


def _check_nodes(file: Path, nodes: Nodes, index: clew.Index) -> None:
    """Raise ValueError for nodes that the index was not made of."""
    text_of = {d.id: None if d.heading else d.text for d in index.documents}
    for id, node in nodes.items():
        text = text_of.get(id, "") if id in text_of else ""
        if text is not None and text != node.get_content(metadata_mode=MetadataMode.NONE):
            raise ValueError(
                f"{file} has the node {id!r} of another index than the one in "
                f"{str(file.parent / INDEX)!r}, as after a persist that was cut short: make the "
                "retriever again and persist it"
            )


def _nodes_of(written: str) -> Nodes:
    return SimpleDocumentStore.from_dict(json.loads(written)).docs


def _options_of(written: str) -> dict[str, Any]:
    options: dict[str, Any] = json.loads(written)
    filters = options["filters"]
    options["filters"] = None if filters is None else MetadataFilters.model_validate(filters)
    return options


def _with_our_names(advice: str) -> str:
    """Return what clew advises, by the names that `from_persist_dir` has."""

    def renamed(match: re.Match[str]) -> str:
        return f"from_persist_dir(persist_dir, {NAMES.renamed.get(match[1], match[1])}="

    return re.sub(r"\bload\(path, (\w+)=", renamed, advice)
