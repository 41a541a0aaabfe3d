"""`SOURCES.md` is true: every name is there, every setting holds, every test exists, and no element of the sources is left out."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest

import clew
from clew import recipes

HERE = Path(__file__).parent
COLUMNS = ["element", "code", "published", "ours", "tests"]
SETTING = re.compile(r" (==|is|in) ")
# The tuned recipe of each published setting, and the section of the table.
PAIRS = {
    "agrag_paper": "agrag",
    "hipporag2_paper": "hipporag",
    "kurisu_paper": "kurisu",
    "da_rag_paper": "da_rag",
    "sandwich_greedy_paper": "budgeted",
    "journey_paper": "journey",
}


def sections():
    """The rows of every section, by its title: cells by column."""
    found, title = {}, ""
    for line in (HERE / "SOURCES.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
            found[title] = []
        elif line.startswith("| ") and not line.startswith("| element"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found[title].append(dict(zip(COLUMNS, cells, strict=True)))
    return found


SECTIONS = sections()
ROWS = [row for rows in SECTIONS.values() for row in rows]
MODULES = [f"clew.{module}" for module in ("adapters", "index.narrowing", "global_answer")]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


@cache
def found(name):
    """What a dotted name below `clew` stands for; modules are imported on the way."""
    value = clew
    path = "clew"
    for part in name.split("."):
        path += f".{part}"
        if inspect.ismodule(value):
            try:
                value = importlib.import_module(path)
                continue
            except ModuleNotFoundError as problem:
                if problem.name != path:
                    raise
        value = getattr(value, part)
    return value


class Names(dict):
    """The names of a setting: recipes, and what is below `clew`, imported when it is used."""

    def __missing__(self, name):
        if name in recipes.names():
            return recipes.get(name)
        return found(name)


def default(function, parameter):
    if is_dataclass(function):
        return next(field.default for field in fields(function) if field.name == parameter)
    return inspect.signature(function).parameters[parameter].default


def import_attributes(expression):
    """Import the modules that a setting names, so that they are attributes of their packages."""
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if (
                re.fullmatch(r"[a-z_.0-9]+(\.\w+)?", name)
                and name.split(".")[0] not in recipes.names()
            ):
                try:
                    found(name)
                except AttributeError:  # of an object, not of a module
                    continue


def holds(expression):
    import_attributes(expression)
    names = Names(default=default, repr=repr, dict=dict)
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(node, ast.Name) and node.id not in names:
            names[node.id] = names[node.id]
    return eval(expression, {"__builtins__": {}}, names) is True


@cache
def test_names(file):
    return {
        node.name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


test_names.__test__ = False


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["element"])
def test_what_a_row_says_is_so(row):
    assert all(row.values())
    names = quoted(row["code"])
    if not row["code"].startswith("**missing**"):
        assert names
        for name in names:
            assert (HERE / name).is_dir() or found(name) is not None
    for column in ("published", "ours"):
        for setting in filter(SETTING.search, quoted(row[column])):
            assert holds(setting), setting
    assert quoted(row["tests"])
    for test in quoted(row["tests"]):
        file, _, name = test.partition("::")
        assert (HERE / file).is_file(), test
        assert not name or name in test_names(HERE / file), test


def settings_of(column):
    return " ".join(setting for row in ROWS for setting in quoted(row[column]))


def test_published_settings_are_of_published_recipes_and_ours_are_not():
    ours = [one for row in ROWS for one in quoted(row["ours"]) if SETTING.search(one)]
    published = [one for row in ROWS for one in quoted(row["published"]) if SETTING.search(one)]
    assert len(published) > 60
    for name in PAIRS:
        assert any(f"{name}." in setting for setting in published)
    assert sum("_paper" in setting for setting in ours) < 10, "but for what a departure turns off"


def stages(value, path):
    """Every stage of a method, with the path to it."""
    if is_dataclass(value):
        yield path, value
        for field in fields(value):
            yield from stages(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from stages(part, f"{path}[{place}]")


@pytest.mark.parametrize("paper", PAIRS)
def test_every_setting_in_which_a_published_recipe_departs_from_the_defaults_is_in_the_table(paper):
    table = settings_of("published") + settings_of("ours")
    left_out = [
        f"{path}.{field.name}"
        for path, stage in stages(recipes.get(paper), paper)
        for field in fields(stage)
        if not is_dataclass(value := getattr(stage, field.name))
        and not (isinstance(value, tuple) and any(map(is_dataclass, value)))
        and value != field.default
        and f"{path}.{field.name}" not in table
    ]
    assert not left_out


@pytest.mark.parametrize(
    ("section", "elements"),
    [
        ("AGRAG", ["Definition 1", *(f"Eq. {n}," for n in (1, 2, 3, 4, 5, 6, 7, 8)), "eq. 9", "eq. 10"]),
        ("AGRAG", [*(f"Theorem {n}" for n in (1, 2, 3)), "lines 1 to 10", "lines 11 to 15", "Line 16"]),
        ("Graph-based", ["Q", "w(v)", "budget L", "x_v", "integer linear", "greedy", "Linearisation", "triples"]),
        ("Kurisu", [f"Algorithm {n}" for n in range(1, 11)]),
        ("Kurisu", ["2.1", "2.2.2", "2.2.3", "2.2.4", "2.3.1", "2.3.2", "2.3.3", "2.4.1", "2.4.2", "3.1"]),
        ("Kurisu", ["B.1.1", "B.2", "B.3", "C.1", "C.2", "Figure 4", "Table 2", "Table 3", "Tables 1"]),
        ("Kurisu", ["start_node", "max_depth", "sim_threshold", "fgw_threshold", "alpha", "embeddings", "model"]),
        ("Kurisu", ["sigma_min", "R,", "eta", "tau+", "tau-", "delta", "gamma", "learning rate", "kappa", "phi"]),
        ("Navigating", ["HNSW", "BFS", "PPR", "Steiner tree", "Louvain", "MMR", "PHSE", "Journey", "Decision"]),
        ("Navigating", ["efConstruction", "efSearch", "max_depth", "max_degree", "epsilon", "maximum edge weight"]),
        ("Navigating", ["resolution", "lambda", "beam", "existence", "evidence", "minimality", "Baseline"]),
        ("Navigating", ["Lightweight", "Enterprise", "Agentic", "label propagation", "complexities"]),
        ("DA-RAG", ["L_C", "L_KG", "L_S", "E_inter", "V_work", "coarse", "fine", "EACS", "QRScore", "adaptive k"]),
        ("DA-RAG", ["C_b", "Q-Peel", *(f"A.{n}" for n in range(1, 6)), "B.1", "B.2", "B.3", "125", "ablation"]),
        (
            "DA-RAG",
            [
                *("language_model_name", "embedding_model_name", "evaluation_model_name"),
                *("tiktoken_model_name", "entity_extract_max_gleaning", "entity_summary_to_max_tokens"),
                *("embedding_dimensions", "embedding_max_token_size", "embedding_func_max_async"),
                *("language_model_max_async", "language_model_max_token_size", "vector_db_storage"),
                *("key_string_value_json_storage", "graph_storage", "max_token_for_text_unit"),
                *("max_token_for_context", "max_token_for_community_report", "temperature"),
            ],
        ),
    ],
)  # fmt: skip
def test_no_element_of_a_source_is_left_out(section, elements):
    [rows] = [rows for title, rows in SECTIONS.items() if title.startswith(section)]
    named = "\n".join(row["element"] for row in rows)
    assert [element for element in elements if element not in named] == []


def test_a_false_setting_and_an_unknown_name_are_seen():
    assert holds("agrag_paper.seed.max_facts == 5")
    assert not holds("agrag_paper.seed.max_facts == 6")
    with pytest.raises(AttributeError):
        found("select.mcmi.Nothing")
