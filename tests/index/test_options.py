"""Options travel whole: a new one is declared in one file and used in another, and in no third."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest

import clew
from clew import Document, Index
from clew.index import IndexConfig, QueryOptions, narrow
from clew.index.answer import NothingFitsWarning
from clew.index.config import IndexKeywords
from clew.index.narrowing import CANDIDATES
from clew.index.question import QueryKeywords

ROOT = Path(__file__).parents[2]
ADAPTERS = [
    ROOT / "integrations" / "langchain-clew" / "src",
    ROOT / "integrations" / "llama-index-retrievers-clew",
    ROOT / "integrations" / "llama-index-postprocessor-clew",
]
DOCUMENTS = [Document("a", "Anna married Ben."), Document("b", "Ben lives on Corfu.")]

OF_A_QUESTION = {
    "index/question.py": [
        ("    model: ModelSource | None\n", "    model: ModelSource | None\n    tone: str\n"),
        (
            "    model: ModelSource | None = None\n",
            '    model: ModelSource | None = None\n    tone: str = "plain"\n',
        ),
    ],
    "index/answer.py": [
        (
            "    method = recipes.get(options.recipe)\n",
            "    USED.append(options.tone)\n    method = recipes.get(options.recipe)\n",
        ),
        ("STAGE_OPTIONS =", "USED = []\nSTAGE_OPTIONS ="),
    ],
}
OF_AN_INDEX = {
    "index/config.py": [
        (
            "    generators: Sequence[Generate]\n",
            "    generators: Sequence[Generate]\n    colour: str\n",
        ),
        (
            "    generators: tuple[Generate, ...] = ()\n",
            '    generators: tuple[Generate, ...] = ()\n    colour: str = "red"\n',
        ),
    ],
    "index/build.py": [
        (
            "    known = known or KnownResults()\n",
            "    USED.append(config.colour)\n    known = known or KnownResults()\n",
        ),
        ("def build_graph(", "USED = []\n\n\ndef build_graph("),
    ],
}

CORE = """
import asyncio, json, tempfile, clew
from clew.index.answer import USED as tones
from clew.index.build import USED as colours
def used(run):
    tones.clear(), colours.clear()
    result = run()
    seen.append((list(tones), list(colours)))
    return result
seen = []
how = {"colour": "blue", "recipe": "bm25"}
texts = ["Anna married Ben.", "Ben lives on Corfu."]
documents = [clew.Document(text[:3], text, {"year": i}) for i, text in enumerate(texts)]
"""
OF_THE_CORE = """
index = used(lambda: clew.Index.from_documents(documents, colour="blue"))
used(lambda: index.ask("Who?", recipe="bm25", tone="loud"))
used(lambda: asyncio.run(index.aask("Who?", recipe="bm25", tone="loud")))
used(lambda: index.ask_many(["Who?"], recipe="bm25", tone="loud"))
used(lambda: clew.narrow("Who?", documents, tone="loud", **how))
used(lambda: index.ask("Who?", recipe="bm25", tone="loud", where={"year": 1}))
folder = tempfile.mkdtemp()
index.save(folder)
used(lambda: clew.Index.load(folder).add(["Cleo sings."]).delete("Ann"))
used(lambda: clew.Index.load(folder, colour="blue").delete("Ann"))
try:
    clew.Index.load(folder, colour="green")
except ValueError as error:
    seen.append(str(error))
print(json.dumps(seen))
"""
OF_LANGCHAIN = """
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
texts = [Document(text) for text in texts]
made = used(lambda: ClewRetriever.from_documents(texts, tone="loud", **how))
used(lambda: made.invoke("Who?"))
used(lambda: made.invoke("Who?", tone="soft"))
used(lambda: asyncio.run(made.ainvoke("Who?", tone="soft")))
store = InMemoryVectorStore.from_documents(texts, DeterministicFakeEmbedding(size=8))
used(lambda: ClewRetriever.from_vectorstore(store, tone="loud", **how).invoke("Who?"))
used(lambda: ClewCompressor(tone="loud", **how).compress_documents(texts, "Who?"))
print(json.dumps(seen))
"""
OF_LLAMAINDEX = """
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import ChunkNode
from llama_index.core.schema import Document, NodeWithScore, TextNode
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever
nodes = [TextNode(text=text) for text in texts]
made = used(lambda: ClewRetriever.from_nodes(nodes, tone="loud", **how))
used(lambda: made.retrieve("Who?"))
used(lambda: made.with_options(tone="soft").retrieve("Who?"))
used(lambda: asyncio.run(made.aretrieve("Who?")))
folder = tempfile.mkdtemp()
made.persist(folder)
used(lambda: ClewRetriever.from_persist_dir(folder).retrieve("Who?"))
scored = [NodeWithScore(node=node, score=0.5) for node in nodes]
used(lambda: ClewPostprocessor(tone="loud", **how).postprocess_nodes(scored, query_str="Who?"))
store = SimplePropertyGraphStore()
store.upsert_nodes([ChunkNode(text=text, id_=text[:3]) for text in texts])
used(lambda: ClewPGRetriever(store, tone="loud", **how).retrieve("Who?"))
print(json.dumps(seen))
"""
BOTH, COLOUR, LOUD = [["loud"], ["blue"]], [[], ["blue"]], [["loud"], []]
SOFT = [["soft"], []]
REFUSED = (
    "the index was made with colour='blue'; 'green' was given: give the same, or make a new index"
)
WANTED = {
    OF_THE_CORE: [
        *[COLOUR, LOUD, LOUD, LOUD, BOTH, BOTH],
        *[[[], ["blue", "blue"]], COLOUR, REFUSED],
    ],
    OF_LANGCHAIN: [COLOUR, LOUD, SOFT, SOFT, BOTH, BOTH],
    OF_LLAMAINDEX: [COLOUR, LOUD, SOFT, LOUD, LOUD, BOTH, BOTH],
}


@pytest.fixture(scope="module")
def changed_clew(tmp_path_factory):
    """A copy of clew in which two options are new: one of a question and one of an index."""
    folder = tmp_path_factory.mktemp("changed")
    source = Path(clew.__file__).parent
    shutil.copytree(source, folder / "clew", ignore=shutil.ignore_patterns("__pycache__"))
    for changes in (OF_A_QUESTION, OF_AN_INDEX):
        assert len(changes) == 2, "a new option is an affair of two files"
        for name, replacements in changes.items():
            file = folder / "clew" / name
            text = file.read_text(encoding="utf-8")
            for old, new in replacements:
                assert text.count(old) == 1, (name, old)
                text = text.replace(old, new)
            file.write_text(text, encoding="utf-8")
    return folder


NEEDS = {OF_THE_CORE: "clew", OF_LANGCHAIN: "langchain_core", OF_LLAMAINDEX: "llama_index.core"}


def is_installed(module):
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(scope="module")
def said_by(changed_clew):
    """What each program printed, all of them in one process with the changed copy."""
    programs = [program for program, module in NEEDS.items() if is_installed(module)]
    path = os.pathsep.join(map(str, [changed_clew, *ADAPTERS]))
    done = subprocess.run(
        [sys.executable, "-c", "".join(CORE + program for program in programs)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(programs, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(
    ("program", "needs"), NEEDS.items(), ids=["core", "langchain", "llamaindex"]
)
def test_a_new_option_is_an_affair_of_two_files(said_by, program, needs):
    pytest.importorskip(needs)
    assert said_by[program] == WANTED[program]


@pytest.mark.parametrize(
    ("options", "keywords"), [(QueryOptions, QueryKeywords), (IndexConfig, IndexKeywords)]
)
def test_keywords_and_fields_have_the_same_names(options, keywords):
    names = [field.name for field in fields(options)]
    assert list(keywords.__annotations__) == names
    described = {line.split(":")[0].strip() for line in options.__doc__.splitlines()}
    assert set(names) <= described, "every option is documented"


@pytest.mark.parametrize(
    ("method", "defaults"),
    [
        (Index.from_documents, [IndexConfig()]),
        (Index.ask, [QueryOptions()]),
        (Index.aask, [QueryOptions()]),
        (Index.ask_many, [QueryOptions()]),
        (narrow, [QueryOptions(), CANDIDATES]),
    ],
)
def test_the_signature_and_the_documentation_show_every_option(method, defaults):
    parameters = inspect.signature(method).parameters
    for values in defaults:
        for name, value in vars(values).items():
            assert parameters[name].default is value or parameters[name].default == value
            assert f"    {name}: " in method.__doc__
    assert "keywords" not in parameters


def test_what_the_signature_of_narrow_shows_is_what_narrow_does():
    shown = inspect.signature(narrow).parameters
    names = [field.name for some in (QueryOptions, IndexConfig) for field in fields(some)]
    said = {name: shown[name].default for name in names}
    assert said["splitter"] is None
    by_default = narrow("Who lives on Corfu?", DOCUMENTS)
    assert narrow("Who lives on Corfu?", DOCUMENTS, **said).text == by_default.text


def test_an_unknown_name_is_refused_with_the_names_that_are_known():
    index = Index.from_documents(DOCUMENTS)
    known = "it takes recipe, budget, limit, where, deadline, model"
    with pytest.raises(TypeError, match=f"a question does not take top_k; {known}"):
        index.ask("Who?", top_k=3)
    with pytest.raises(TypeError, match=f"a question does not take k, top_k; {known}"):
        index.ask_many(["Who?"], top_k=3, k=2)
    with pytest.raises(TypeError, match="an index does not take embeddings; it takes embedder"):
        Index.from_documents(DOCUMENTS, embeddings=None)
    with pytest.raises(TypeError, match=r"clew\.narrow does not take top_k; it takes recipe"):
        narrow("Who?", DOCUMENTS, top_k=3)
    with pytest.raises(TypeError, match="an index does not take writers; it takes embedder"):
        Index.load("nowhere", writers=[])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"max_document": 0}, "max_document is a number of at least 1; got 0"),
        ({"max_line": "100"}, "max_line is a number of at least 1; got '100'"),
        ({"max_depth": -1}, "max_depth is a number of at least 0; got -1"),
        ({"max_depth": True}, "max_depth is a number of at least 0; got True"),
    ],
)
def test_a_ceiling_that_is_no_number_is_refused_before_anything_is_read(keywords, message):
    with pytest.raises(ValueError, match=message):
        Index.from_documents(Path("nowhere"), **keywords)


def test_options_may_come_in_one_value_and_keywords_replace_single_ones():
    index = Index.from_documents(DOCUMENTS, config=IndexConfig.from_keywords(count=len))
    assert index.graph.count("four") == 4
    options = QueryOptions(recipe="bm25", limit=2)
    assert len(index.ask("Who lives on Corfu?", options=options)) == 2
    assert len(index.ask("Who lives on Corfu?", options=options, limit=1)) == 1
    assert len(narrow("Who?", DOCUMENTS, options=options, config=index.config, limit=1)) == 1


def test_generators_may_be_part_of_the_configuration(embed):
    reports = clew.generate.Reports(level=None, min_passages=2)
    at_once = Index.from_documents(DOCUMENTS, embedder=embed, generators=[reports])
    after = Index.from_documents(DOCUMENTS, embedder=embed).generate(reports)
    assert at_once.generators == after.generators == (reports,)
    assert at_once.graph.ids == after.graph.ids
    assert at_once.failed == after.failed


def test_a_filter_and_a_splitter_work_on_candidates_too(embed):
    candidates = [
        (Document("a", "Anna sails to Corfu. Anna paints.", {"year": 1}), 0.9),
        (Document("b", "Ben mends nets. Ben sings.", {"year": 2}), 0.4),
    ]
    alone = narrow("Who sings?", candidates, recipe="dense", embedder=embed, where={"year": 2})
    assert alone.ids == ["b"]
    pieces = narrow(
        "Who sings?", candidates, recipe="dense", embedder=embed, splitter=clew.Splitter(6)
    )
    scores = {item.document: item.score for item in pieces}
    assert len(pieces) > 2
    assert scores == pytest.approx({"a": 1.0, "b": 0.4 / 0.9})


def test_a_budget_that_holds_nothing_is_an_error_unless_the_question_is_not_strict():
    index = clew.Index.from_documents(["Ferries sail to Corfu at ten.", "The sea is salt."])
    with pytest.raises(clew.BudgetError, match="a budget of 1 tokens"):
        index.ask("When do ferries sail?", budget=1)
    with pytest.warns(NothingFitsWarning, match="a budget of 1 tokens"):
        context = index.ask("When do ferries sail?", budget=1, strict=False)
    assert (context.text, context.tokens, context.budget, len(context)) == ("", 0, 1, 0)
    assert "give a larger budget" in context.nothing_found
