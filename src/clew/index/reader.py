"""What reads facts where the documents of an index decide it; see `clew.NamesWhereMany`.

The configuration of an index keeps what was asked for. What was decided is known by what it has
learnt: it stays as it is while an index changes in place, and is decided again of all documents
where an index is built, of those that a filter allows, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clew.document import Document
from clew.index.config import (
    DEFAULT_LINKS,
    LINKS_OF_NAMES,
    SYNONYM_BY_WORDS,
    IndexConfig,
)
from clew.link import Synonym
from clew.read import Knowledge, Names, NamesWhereMany, Symbols, Triple
from clew.types import Link


def config_for(
    config: IndexConfig, documents: Sequence[Document], facts: Mapping[str, Sequence[Triple]]
) -> IndexConfig:
    """Return the configuration that an index of some documents is built with.

    Names that nobody has asked for are read only where no facts are given.

    Args:
        config: What was asked for.
        documents: All documents of the index.
        facts: Triples by document id, those that the documents bring along, too.

    Example:
        >>> config_for(IndexConfig(), [Document("a", "The sea.")], {}).extractor
        Symbols(...)
    """
    if not isinstance(config.extractor, NamesWhereMany):
        return config
    if facts:
        return _read_by(config, Symbols())
    return _read_by(config, config.extractor.reader(documents))


def config_after(config: IndexConfig, knowledge: Knowledge | None) -> IndexConfig:
    """Return the configuration that an index was built with.

    Args:
        config: What was asked for.
        knowledge: What the documents of the index have taught.
    """
    if not isinstance(config.extractor, NamesWhereMany):
        return config
    form = None if knowledge is None else knowledge.form
    return _read_by(config, config.extractor.reader_of_form(form))


def leaves_names_bare(config: IndexConfig, decided: IndexConfig) -> bool:
    """Return whether names, and facts about them, get no vectors.

    They are several times as many as the passages, and an embedder that the caller gives may cost
    money for each. So it embeds no names that nobody has asked for. `Synonym` compares them by
    their words, and clew's own vectors compare the facts of near passages with a question.

    Args:
        config: What was asked for.
        decided: What `config_for` or `config_after` returned.

    Example:
        >>> from clew import Embedder
        >>> config = IndexConfig(embedder=Embedder.of(lambda texts: [[1.0]] * len(texts)))
        >>> leaves_names_bare(config, config_for(config, [Document("a", "The sea.")], {}))
        False
    """
    is_unasked = isinstance(config.extractor, NamesWhereMany) and config.embedder is not None
    return is_unasked and isinstance(decided.extractor, Names)


def _read_by(config: IndexConfig, reader: Names | Symbols) -> IndexConfig:
    decided = replace(config, extractor=reader)
    if config.links == DEFAULT_LINKS and isinstance(reader, Names):
        return replace(decided, links=LINKS_OF_NAMES)
    if not leaves_names_bare(config, decided):
        return decided
    links = (SYNONYM_BY_WORDS if _compares_vectors(link) else link for link in config.links)
    return replace(decided, links=tuple(links))


def _compares_vectors(link: Link) -> bool:
    return isinstance(link, Synonym) and link.by == "vectors"
