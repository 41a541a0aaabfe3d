"""The plan of the house: who imports whom, how long a module may be, and what `import clew` leaves unloaded."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import clew

HOUSE = Path(clew.__file__).parent
MODULES = {
    ".".join(["clew", *path.relative_to(HOUSE).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): path
    for path in HOUSE.rglob("*.py")
}

STAGES = ("seed", "spread", "select", "order", "link")
BASE = {"graph", "algorithms"}
ABOVE = {
    "index",
    "cite",
    "where",
    "narrow",
    "store",
    "build",
    "write",
    "measure",
    "show",
    "cli",
    "__main__",
    "recipes",
}
ALLOWED = {
    "graph": {"graph"},
    "algorithms": BASE,
    "stage": {"graph"},
    "context": {"graph"},
    "document": {"graph"},
    "tokens": {"graph"},
    "question": set(),
    "model": set(),
    "latent": BASE,
    "embed": BASE | {"latent"},
    "vectors": BASE | {"document", "embed"},
    "render": {"graph"},
    "nesting": BASE,
    "explain": BASE | {"context"},
    "read": BASE | {"document", "embed", "read", "model", "tokens"},
    "learned": BASE | {"context"},
    "making": BASE | {"document", "embed", "vectors", "read", "link", "stage"},
    **{stage: BASE | {stage, "model"} for stage in STAGES},
    "fitting": BASE | {"context", "render", "explain", "nesting"},
    "pipeline": BASE | {"stage", "context", "render", "explain", "nesting", "fitting"},
    "methods": BASE
    | {*STAGES, "stage", "context", "render", "explain", "pipeline", "methods", "model"},
    "recipes": {*STAGES, "methods", "pipeline", "render", "stage"},
}

LATER = {
    "stage": {"context"},
    "context": {"show"},
}  # for the type's sake alone, or when it is asked for


def imports_of(name, path):
    """Every module that a module names in an import, wherever in its text, and whether it is loaded with it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    later = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in later) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(
                filter(
                    None,
                    [
                        ".".join(package.split(".")[: len(package.split(".")) - node.level + 1])
                        if node.level
                        else "",
                        node.module,
                    ],
                )
            )
            for alias in node.names:
                yield (
                    (f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base),
                    id(node) not in later,
                )


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_follow_the_plan(name):
    place = name.split(".")[1] if "." in name else ""
    allowed = ALLOWED.get(place)
    if allowed is None:
        assert place in ABOVE | {""}, f"{name} has no place in the plan"
        return
    ours = [
        (imported.split(".")[1], at_once)
        for imported, at_once in imports_of(name, MODULES[name])
        if imported.startswith("clew.")
    ]
    wrong = sorted(
        {
            other
            for other, at_once in ours
            if other not in allowed and (at_once or other not in LATER.get(place, ()))
        }
    )
    assert not wrong, f"{name} may not import {wrong}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_has_at_most_three_hundred_lines_and_says_its_idea(name):
    text = MODULES[name].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert ast.get_docstring(ast.parse(text)), "a module says its idea first"


def test_no_framework_is_imported():
    named = {imported for name, path in MODULES.items() for imported, _ in imports_of(name, path)}
    assert not {n for n in named if n.split(".")[0].startswith(("llama_index", "langchain"))}


def test_modules_that_are_loaded_at_once_do_not_import_each_other_in_a_ring():
    after = {
        name: {other for other, at_once in imports_of(name, path) if at_once and other in MODULES}
        for name, path in MODULES.items()
    }
    after = {name: others - {name, name.rpartition(".")[0]} for name, others in after.items()}
    while free := {name for name, others in after.items() if not others & after.keys()}:
        after = {name: others for name, others in after.items() if name not in free}
    assert not after


def test_import_clew_loads_nothing_heavy():
    run = [sys.executable, "-c", "import sys, json, clew; print(json.dumps(sorted(sys.modules)))"]
    loaded = {
        name.split(".")[0]
        for name in json.loads(
            subprocess.run(run, capture_output=True, text=True, check=True).stdout
        )
    }
    heavy = {
        "torch", "numba", "sklearn", "ot", "highspy", "matplotlib", "networkx", "rustworkx", "llama_index", "langchain_core", "pydantic",
        "scipy", "pandas", "bm25s", "transformers", "sentence_transformers", "tiktoken", "rich",
    }  # fmt: skip
    assert not loaded & heavy
    assert find_spec("sklearn"), "the check is worth something only where it could have been loaded"
