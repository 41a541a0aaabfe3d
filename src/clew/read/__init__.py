"""What is in the documents?  documents -> nodes and facts.

Sources are loaded (`sources`, `files`, `formats`), cut into pieces (`split`), read for facts
(`extract`), and put together as a graph without vectors and edges (`assembly`).
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.read.assembly import assemble, passages_of_rows
    from clew.read.canonical import Plain, make_canonical
    from clew.read.extract.cached_extractor import CachedExtractor, CannotLearnError
    from clew.read.extract.extractor import (
        Extractor,
        IncompleteTriples,
        Passage,
        Triple,
        is_corpus_wide,
    )
    from clew.read.extract.knowledge import Knowledge, LearningExtractor, PassagesOf, as_learning
    from clew.read.extract.language_model import ExtractionEstimate, Triples
    from clew.read.extract.names import Names
    from clew.read.extract.names_where_many import NamesWhereMany
    from clew.read.extract.symbols import NamesAndSymbols, Symbols
    from clew.read.extract.tagger import TaggedEntities
    from clew.read.extract.terms import Terms
    from clew.read.file_reading import FileReading
    from clew.read.formats.rows import read_rows
    from clew.read.graph_documents import relation_words
    from clew.read.known_pieces import CutBefore, pieces_in
    from clew.read.llama_index_nodes import without_relationships
    from clew.read.nodes import estimate_extraction, read_nodes, read_passages
    from clew.read.pieces import Piece, Split
    from clew.read.sources import LoadedDocuments, load_documents, load_single, text_id
    from clew.read.split.files import FILES, SplitFiles
    from clew.read.split.splitter import Splitter
    from clew.read.split.whole import keep_whole
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "assembly": "assemble passages_of_rows",
            "canonical": "Plain make_canonical",
            "extract.cached_extractor": "CachedExtractor CannotLearnError",
            "extract.extractor": "Extractor IncompleteTriples Passage Triple is_corpus_wide",
            "extract.knowledge": "Knowledge LearningExtractor PassagesOf as_learning",
            "extract.language_model": "ExtractionEstimate Triples",
            "extract.names": "Names",
            "extract.names_where_many": "NamesWhereMany",
            "extract.symbols": "NamesAndSymbols Symbols",
            "extract.tagger": "TaggedEntities",
            "extract.terms": "Terms",
            "file_reading": "FileReading",
            "formats.rows": "read_rows",
            "graph_documents": "relation_words",
            "known_pieces": "CutBefore pieces_in",
            "llama_index_nodes": "without_relationships",
            "nodes": "estimate_extraction read_nodes read_passages",
            "pieces": "Piece Split",
            "sources": "LoadedDocuments load_documents load_single text_id",
            "split.files": "FILES SplitFiles",
            "split.splitter": "Splitter",
            "split.whole": "keep_whole",
        },
    )

__all__ = [
    "FILES",
    "CachedExtractor",
    "CannotLearnError",
    "CutBefore",
    "ExtractionEstimate",
    "Extractor",
    "FileReading",
    "IncompleteTriples",
    "Knowledge",
    "LearningExtractor",
    "LoadedDocuments",
    "Names",
    "NamesAndSymbols",
    "NamesWhereMany",
    "Passage",
    "PassagesOf",
    "Piece",
    "Plain",
    "Split",
    "SplitFiles",
    "Splitter",
    "Symbols",
    "TaggedEntities",
    "Terms",
    "Triple",
    "Triples",
    "as_learning",
    "assemble",
    "estimate_extraction",
    "is_corpus_wide",
    "keep_whole",
    "load_documents",
    "load_single",
    "make_canonical",
    "passages_of_rows",
    "pieces_in",
    "read_nodes",
    "read_passages",
    "read_rows",
    "relation_words",
    "text_id",
    "without_relationships",
]
