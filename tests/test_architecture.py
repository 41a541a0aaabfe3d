"""The plan of the house: who imports whom, whose name is whose, and what `import clew` leaves unloaded."""

from __future__ import annotations

import ast
import graphlib
import importlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

import clew

HOUSE = Path(clew.__file__).parent
MODULES = {
    ".".join(["clew", *path.relative_to(HOUSE).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): path
    for path in HOUSE.rglob("*.py")
}

GRAPH = {
    "on_demand",
    "usage",
    "deadline",
    "second_thread",
    "progress",
    "text",
    "graph",
    "algorithms",
}
RECORDS = {"document", "source_map", "items", "show", "context", "types", "model"}
STAGES = {"seed", "spread", "select", "order"}
PAGE = {"render", "explain", "overlap", "budget", "shares", "pipeline"}
BELOW_INDEX = GRAPH | RECORDS | {"embedding", "read", "link", "generate", "recipes", "store"}
ALLOWED = {  # the rooms that a room may import, beside itself
    "version": set(),
    "on_demand": {"garbage"},
    "user_cache": set(),
    "forking": set(),
    "cores": set(),
    "second_thread": {"cores", "forking"},
    "deadline": set(),
    "interruption": set(),
    "progress": set(),
    "cluster": set(),
    "garbage": {"forking"},
    "processes": {"cluster", "garbage", "version"},
    "usage": set(),
    "syntax_trees": set(),
    "text": set(),
    "graph": {"on_demand", "text", "usage", "forking"},
    "algorithms": {"on_demand", "graph", "deadline", "second_thread", "forking", "syntax_trees"},
    "source_map": {"graph"},
    "document": {"graph", "source_map"},
    "items": {"graph"},
    "show": {"on_demand", "graph", "items", "text"},
    "context": {"graph", "items", "show", "usage"},
    "types": {"graph", "algorithms", "context", "model"},
    "model": {"on_demand", "text", "usage", "forking", "progress"},
    "embedding": GRAPH | {"document", "forking", "garbage", "processes"},
    "read": GRAPH | {"document", "source_map", "embedding", "model", "processes", "syntax_trees", "version"},
    "link": GRAPH | {"types"},
    **{stage: GRAPH | {"types", "model"} for stage in STAGES},
    "relevance": GRAPH | {"seed"},
    "telemetry": {"context", "items", "version"},
    "render": {"graph", "items", "types"},
    "overlap": {"graph", "algorithms"},
    "explain": GRAPH | {"items", "types"},
    "budget": GRAPH | {"items", "types", "render", "explain", "overlap"},
    "shares": {"graph", "items", "types", "budget"},
    "pipeline": GRAPH | {"items", "context", "types", "order"} | PAGE,
    "methods": GRAPH | RECORDS | STAGES | PAGE | {"link"},
    "recipes": STAGES | PAGE | {"algorithms", "types", "methods"},
    "recipe_files": STAGES | {"algorithms", "methods", "pipeline", "recipes", "render", "types"},
    "generate": GRAPH | RECORDS,
    "store": GRAPH | {"overlap", "seed", "document", "source_map", "embedding", "read", "link", "generate", "types", "version"},
    "storage": {"graph", "on_demand", "store", "user_cache"},
    "index": BELOW_INDEX | PAGE | {"cores", "telemetry", "methods", "forking", "relevance", "seed", "processes", "garbage", "storage"},
    "printed": {"budget", "context", "deadline", "index", "items", "recipes", "render", "usage"},
    "adapters": BELOW_INDEX | {"index", "forking", "garbage", "overlap", "printed"},
    "cite": GRAPH | {"context", "items", "index", "relevance", "seed"},
    "conversation": GRAPH | {"budget", "cite", "context", "index", "items", "model", "read", "recipes", "render", "types"},
    "global_answer": GRAPH | {"model", "index", "select", "types"},
    "serve": GRAPH | RECORDS | {"cores", "budget", "cite", "conversation", "index", "processes", "recipes", "render", "storage", "version"},
    "documentation": BELOW_INDEX | {"index", "budget", "methods"},
    "remote": BELOW_INDEX | {"forking", "index", "relevance", "seed"},
    "sharded": BELOW_INDEX | {"forking", "index", "overlap", "remote", "relevance", "seed"},
    "measure": BELOW_INDEX | {"index", "budget"},
    "cli": BELOW_INDEX | {"cores", "conversation", "remote", "sharded", "processes", "recipe_files", "version", "index", "measure", "documentation", "pipeline", "render", "budget", "methods", "relevance", "serve", "interruption", "garbage", "storage", "user_cache"},
    "__main__": {"cli"},
}  # fmt: skip


def statements(tree):
    """Every statement in a tree, without its expressions, which are most of it."""
    below = [tree]
    while below:
        node = below.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            children = getattr(node, block, ())
            below += children if isinstance(children, list) else ()  # else of an expression


def imports_of(name, tree):
    """Every module of clew that a module imports, at once, in a function or for a type's sake."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            above = (
                package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            )
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                found = f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base
                if found in MODULES:
                    yield found


class Module(NamedTuple):
    """What the tests want to know of a module, which is parsed once for all of them."""

    imports: list[str]
    public_classes: list[str]
    says_its_idea: bool


@pytest.fixture(scope="module")
def modules():
    found = {}
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        found[name] = Module(
            sorted(set(imports_of(name, tree)) - {name}),
            [one for one in classes if not one.startswith("_")],
            bool(ast.get_docstring(tree)),
        )
    return found


def room_of(name):
    return name.split(".")[1] if "." in name else ""


def test_imports_follow_the_table(modules):
    names = sorted(set(MODULES) - {"clew"})
    assert not {name for name in names if room_of(name) not in ALLOWED}, "no row in the table"
    others = {
        name: {room_of(other) for other in modules[name].imports} - {room_of(name), ""}
        for name in names
    }
    assert not {
        name: sorted(rooms - ALLOWED[room_of(name)])
        for name, rooms in others.items()
        if rooms - ALLOWED[room_of(name)]
    }, "modules import rooms that the table does not allow them"
    assert not {name for name in names if "clew" in modules[name].imports}, (
        "these import the package"
    )


def test_the_table_has_no_circle_and_no_empty_row():
    list(
        graphlib.TopologicalSorter(
            {room: rows - {room} for room, rows in ALLOWED.items()}
        ).static_order()
    )
    assert set(ALLOWED) == {room_of(name) for name in MODULES} - {""}


def test_no_modules_import_each_other_in_a_circle(modules):
    """A module's own package is no part of a circle: it only collects what its modules export."""
    after = {
        name: {other for other in module.imports if not name.startswith(f"{other}.")}
        for name, module in modules.items()
        if MODULES[name].name != "__init__.py"
    }
    list(graphlib.TopologicalSorter(after).static_order())


def test_no_two_public_classes_share_a_name(modules):
    places = defaultdict(list)
    for name, module in modules.items():
        for one in module.public_classes:
            places[one].append(name)
    assert "Index" in places
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_every_module_says_its_idea(modules):
    assert not [name for name, module in modules.items() if not module.says_its_idea]


def test_different_numbers_are_found_by_sorting():
    """By itself `np.unique` takes ten to thirty times as long as `clew.graph.distinct` does."""

    def is_compiled(node):
        decorators = getattr(node, "decorator_list", ())
        return any("compiled" in ast.unparse(decorator) for decorator in decorators)

    def by_tables(node):
        """Yield the calls outside of loops that numba compiles, which sort."""
        for child in ast.iter_child_nodes(node):
            if not is_compiled(child):
                yield from by_tables(child)
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "np.unique"
            and not node.keywords
        ):
            yield node.lineno

    found = {
        name: lines
        for name, path in MODULES.items()
        if "unique" in (text := path.read_text("utf-8"))
        and (lines := list(by_tables(ast.parse(text))))
    }
    assert found == {}


def test_no_framework_is_imported():
    frameworks = ("llama_index", "langchain")
    named = {
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for path in MODULES.values()
        if any(framework in (text := path.read_text(encoding="utf-8")) for framework in frameworks)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert not {name for name in named if name.split(".")[0].startswith(frameworks)}


def modules_after(program):
    """The modules that are loaded in a new process after a program."""
    run = [sys.executable, "-c", f"{program}; import sys, json; print(json.dumps([*sys.modules]))"]
    output = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    return set(json.loads(output.splitlines()[-1]))


def test_a_first_question_over_a_saved_index_loads_nothing_heavy(tmp_path):
    """scipy, numba and the identifier of languages each take longer to load than the question."""
    texts = [clew.Document(f"d{i}", f"Anna sails to island {i}.") for i in range(20)]
    facts = {one.id: [("Anna", "sails to", f"island {i}")] for i, one in enumerate(texts)}
    index = clew.Index.from_documents(texts, facts=facts)
    index.save(tmp_path)
    loaded = modules_after(
        f"import clew; clew.Index.load({str(tmp_path)!r}).ask('Where does Anna sail to?', recipe='hipporag')"
    )
    assert "clew.algorithms.pagerank.kernels.walks" in loaded, "a question that needs a loop"
    assert not loaded & {"scipy", "numba", "py3langid", "importlib.metadata", "sqlite3", "pathspec"}
    assert "tokenizers" not in loaded, "the words of a question are few"
    assert not loaded & {
        *("clew.index.build", "clew.index.changes", "clew.index.filtering", "clew.store.saving"),
        *("clew.read.sources", "clew.read.formats.table", "clew.read.extract.corpus"),
        *("clew.methods.da_rag.method", "clew.select.budgeted", "clew.spread.influence"),
        *("clew.show.page", "clew.model.model", "clew.generate.reports", "clew.adapters"),
    }


FORMATS_OF_TEXT = {  # what says which formats there are, and what cuts plain text
    "clew.read.formats",
    *(
        f"clew.read.formats.{name}"
        for name in (
            *("table", "file_format", "outline", "front_matter", "plain_text", "indented_text"),
            *("messages", "headed_text"),
        )
    ),
}
READERS = {"markdown_it", "selectolax", "tree_sitter", "pypdf", "mammoth", "email", "csv", "zipfile", "charset_normalizer"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "format", "also"),
    [
        ("Ferries sail.\n\nThey sail at ten.", "text", set()),
        ("# Ferries\n\nThey sail at ten.", "markdown", {"markdown", "titles", "source_file"}),
        ("Ferries\n=======\n\nThey sail.", "rst", {"rst", "titles", "source_file"}),
        (
            *("def sail():\n    return 10\n", "python"),
            {"python", "packages", "statements", "source_file"},
        ),
    ],
)
def test_a_change_loads_what_reads_the_format_of_its_document_alone(tmp_path, text, format, also):
    """The table of formats names functions; their modules take a tenth of a first change to load."""
    index = clew.Index.from_documents(
        [clew.Document(f"d{i}", f"Anna Berg sails to island {i}.") for i in range(200)],
        extractor=clew.Names(),
    )
    index.save(tmp_path)
    loaded = modules_after(
        f"import clew; i = clew.Index.load({str(tmp_path)!r}); i.ask('Where does Anna sail to?');"
        f" i.add([clew.Document('new', {text!r}, format={format!r})]).graph.row('new')"
    )
    ours = {name for name in loaded if name.startswith("clew.read.formats")}
    beside = {f"clew.read.formats.{name}" for name in also}
    # "declared_encoding" and "not_text" come with what reads files.
    assert ours - FORMATS_OF_TEXT - beside <= {
        "clew.read.formats.declared_encoding",
        "clew.read.formats.not_text",
    }
    assert beside <= ours, "a format that is asked for is loaded"
    assert not loaded & (READERS - ({"markdown_it"} if format == "markdown" else set()))
    assert not loaded & {"subprocess", "clew.read.files", "clew.read.known_files"}


def test_reading_files_loads_neither_what_compiles_patterns_nor_masked_arrays(tmp_path):
    (tmp_path / "sea.txt").write_text("Ferries sail at ten.")
    loaded = modules_after(f"import clew; clew.Index.from_documents({str(tmp_path)!r})")
    assert "clew.read.patterns" in loaded
    assert not loaded & {"pathspec", "numpy.ma"}


def on_demand_packages():
    """Packages that load names on demand, with the names that type checkers see, by module."""
    for name, path in MODULES.items():
        text = path.read_text(encoding="utf-8") if path.name == "__init__.py" else ""
        if "load_on_demand(" not in text:
            continue
        tree = ast.parse(text)
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "load_on_demand"
        ]
        [checked] = [
            node
            for node in tree.body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        seen = {
            alias.name: node.module
            for node in checked.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        yield name, seen, ast.literal_eval(calls[0].args[1])


ON_DEMAND = list(on_demand_packages())


@pytest.mark.parametrize(("name", "seen", "table"), ON_DEMAND, ids=[one[0] for one in ON_DEMAND])
def test_names_on_demand_are_those_that_type_checkers_see(name, seen, table):
    package, loaded = importlib.import_module(name), set(" ".join(table.values()).split())
    rooms = {one for one in seen if f"{name}.{one}" in MODULES}
    assert loaded == set(seen) - rooms
    assert set(package.__all__) <= set(seen)
    assert set(seen) <= set(dir(package)), "help() lists what dir() does"
    for one, home in seen.items():
        found = importlib.import_module(f"{name}.{one}" if one in rooms else home)
        assert getattr(package, one) is (found if one in rooms else getattr(found, one))
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        _ = package.unheard_of


@pytest.mark.parametrize(("name", "table"), [(name, table) for name, _, table in ON_DEMAND])
def test_no_name_on_demand_is_that_of_a_module(name, table):
    """Importing the module would hide the name."""
    names = set(" ".join(table.values()).split())
    assert names
    assert not {one for one in names if f"{name}.{one}" in MODULES}


def test_names_and_summaries_of_recipes_load_no_stage():
    loaded = modules_after(
        "from clew import recipes; [(n, recipes.RECIPES[n].summary) for n in recipes.names()]"
    )
    assert not loaded & {"clew.select.budgeted", "clew.select.mcmi", "clew.methods.da_rag.method"}
    assert "clew.select.mcmi" in modules_after("from clew import recipes; recipes.get('agrag')")


def test_a_new_process_loads_what_it_needs_for_a_question():
    """Each of these takes some hundredths of a second, and is loaded where it is used."""
    loaded = modules_after(
        "import clew; clew.Index.from_documents(['The sea.']).ask('What is the sea?')"
    )
    assert not loaded & {"asyncio", "ssl", "fractions", "clew.documentation", "clew.cite"}
    loaded = modules_after("from clew.cli import main; main(['recipes'])")
    assert "clew.cli.recipes" in loaded
    assert not loaded & {"asyncio", "clew.documentation", "clew.measure", "clew.cli.ask"}
    assert "clew.cite" in modules_after("import clew; clew.cite.citations")
    assert "clew.documentation" in modules_after("from clew import documentation")


def test_import_clew_loads_nothing_heavy():
    loaded = {name.split(".")[0] for name in modules_after("import clew")}
    heavy = {
        "torch", "numba", "sklearn", "ot", "highspy", "matplotlib", "networkx", "rustworkx",
        "llama_index", "langchain_core", "pydantic", "scipy", "pandas", "bm25s", "transformers",
        "sentence_transformers", "tiktoken", "rich", "numpy",
    }  # fmt: skip
    assert not loaded & heavy
    assert find_spec("sklearn"), "the check is worth something only where it could have been loaded"


LIBRARIES = ("algorithms/", "graph/", "text/", "embedding/")  # beneath the way of a question
SHARED = (
    *(
        "context.py",
        "telemetry.py",
        "second_thread.py",
        "types.py",
        "usage.py",
        "deadline.py",
        "overlap.py",
        "index/options.py",
        "index/question.py",
        "index/contents.py",
        "index/locating.py",
        "source_map.py",
        "relevance.py",  # whether anything answers, before a method is asked
    ),
    *("seed/blend.py", "seed/bm25.py", "seed/dense.py"),  # the seed that AGRAG's own one is given
    "seed/phrases.py",  # what tells that something answers, and a seed, too
    "seed/_symbols.py",  # what two seeds do where the question names source code
    "seed/_fact_filter.py",  # what three seeds do where the question has a model
    *("seed/_likely_languages.py", "seed/_identifier_model.py"),  # by which words are stemmed
    # What kind of file two seeds look at, and which kind the question wants.
    *("seed/_kinds_of_files.py", "seed/_test_code.py", "seed/_release_notes.py", "seed/_wanted.py"),
)


def test_a_question_goes_the_way_that_contributing_describes():
    """A stranger follows a question through a dozen files, and through no other."""
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## The way of a question")[1].split("##")[0]
    described = re.findall(r"`([a-z_/]+\.py)`", section)
    texts = [clew.Document("anna", "Anna married Ben."), clew.Document("ben", "Ben is on Corfu.")]
    facts = {"anna": [("Anna", "married", "Ben")], "ben": [("Ben", "lives on", "Corfu")]}
    index = clew.Index.from_documents(texts, facts=facts)
    root = f"{HOUSE}/"
    question = "Where does the husband of Anna live?"
    index.ask(question, recipe="agrag")  # binds the stages, which is done once for a graph
    passed = dict[str, None]()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(root):
            passed[code.co_filename.removeprefix(root)] = None

    sys.setprofile(note)
    try:
        assert index.ask(question, recipe="agrag").items[0].why
    finally:
        sys.setprofile(None)
    own = [name for name in passed if not name.startswith(LIBRARIES) and "_shared" not in name]
    assert [name for name in own if name not in SHARED] == described
