"""A retriever on the disk: clew's index in one folder, and beside it the nodes and the options.

clew saves the texts, vectors, facts and edges. What only LlamaIndex knows of a node (its
relationships, templates and excluded keys) is kept in the framework's own docstore file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.clew.asking_retriever import NAMES
from llama_index.retrievers.clew.candidates import without_vector

import clew

INDEX, NODES, OPTIONS = "clew_index", "clew_nodes.json", "clew_retriever.json"


def save(
    folder: str | Path,
    index: clew.Index,
    nodes: Mapping[str, BaseNode],
    options: Mapping[str, Any],
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
    plain["filters"] = None if filters is None else filters.model_dump(mode="json")
    written = json.dumps(plain, indent=1)
    store = SimpleDocumentStore()
    store.add_documents([without_vector(node) for node in nodes.values()])
    index.save(root / INDEX)
    _replace(root / NODES, json.dumps(store.to_dict()))
    _replace(root / OPTIONS, written)


def load(
    folder: str | Path, keywords: Mapping[str, Any]
) -> tuple[clew.Index, dict[str, BaseNode], dict[str, Any]]:
    """Return the index, the nodes by id, and the options that were saved.

    Args:
        folder: Where they were saved.
        keywords: What `clew.Index.load` is given.

    Raises:
        FileNotFoundError: No retriever was saved there.
        ValueError: What `clew.Index.load` refuses.
    """
    root = Path(folder)
    if not (root / OPTIONS).exists():
        raise FileNotFoundError(f"no retriever was saved in {str(root)!r}: it has no {OPTIONS}")
    options = json.loads((root / OPTIONS).read_text("utf-8"))
    filters = options.pop("filters")
    options["filters"] = None if filters is None else MetadataFilters.model_validate(filters)
    try:
        index = clew.Index.load(root / INDEX, **keywords)
    except ValueError as error:
        raise ValueError(_with_our_names(str(error))) from error
    nodes = SimpleDocumentStore.from_dict(json.loads((root / NODES).read_text("utf-8"))).docs
    return index, nodes, options


def _with_our_names(advice: str) -> str:
    """Return what clew advises, by the names that `from_persist_dir` has."""

    def renamed(match: re.Match[str]) -> str:
        return f"from_persist_dir(persist_dir, {NAMES.renamed.get(match[1], match[1])}="

    return re.sub(r"\bload\(path, (?!generation=)(\w+)=", renamed, advice)


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, "utf-8")
    new.replace(path)
