"""Mutation testing of the five methods: a change of the code must make a test fail.

    python -m tests.mutation --sample 10 --seed 1            ten mutants of every module
    python -m tests.mutation --only select/mcmi --sample 40  of one module
    python -m tests.mutation --named                         those that an audit once found alive

cosmic-ray (`pip install clew[mutation]`) finds and makes the mutants. They are sampled by place, each
place with one of its mutations; what differs in annotations, docstrings or the decorator `compiled`
alone is none. Each is run against the tests and examples of its module, in a copy of the repository
and a process of its own. A mutated kernel runs as plain Python, and so do all others then; else they
run as machine code, which is made once, and kept where `NUMBA_CACHE_DIR` says so. A mutant is killed
by a failing test, an error, or by taking three times as much of the processor as the original. Tests
that do not pass as plain Python, or take long, are left out, and named. Survivors in `EQUIVALENT`
cannot be told from the original by any test, and do not count.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import difflib
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOG = "pytest.log"
SLOW = 5.0  # seconds from which a test is left out
LEAST_SECONDS, SLOWER = 15, 3  # a mutant may take so long, or so many times the original's time
PATIENCE = 900.0  # seconds by the clock for a mutant that waits for something, without working

DOCUMENTATION = "documentation/test_documentation.py"
# Modules, or folders of them, in src/clew, and the tests that cover them. A module belongs to the
# first row that begins its path.
TESTS: dict[str, tuple[str, ...]] = {
    "select/mcmi": ("select/test_mcmi.py", "test_agrag.py"),
    "spread/influence": ("spread/test_influence.py", "test_agrag.py"),
    "spread": ("spread",),
    "seed/mapped_facts": ("test_agrag.py", "seed/test_fact_filter.py"),
    "seed/_fact_filter": ("seed/test_fact_filter.py",),
    "algorithms/steiner": ("algorithms/test_steiner.py", "algorithms/test_expansion.py"),
    "algorithms/budgeted": (
        "algorithms/test_budgeted_kernels.py",
        "algorithms/test_budgeted.py",
        "algorithms/test_cuts.py",
    ),
    "select/budgeted": (
        "select/test_working_graph.py",
        "select/test_budgeted.py",
        "select/test_printed_pages.py",
    ),
    "order/sandwich": ("order/test_orders.py",),
    "methods/kurisu": (
        "methods/test_descent_by_definition.py",
        "methods/test_strength_changes.py",
        "methods/test_descent.py",
        "index/test_learning.py",
    ),
    "methods/da_rag": (
        "link/test_layers.py",
        "generate/test_descriptions.py",
        "methods/test_stouffer.py",
        "methods/test_da_rag_by_definition.py",
        "methods/test_da_rag.py",
    ),
    "algorithms/community_search": ("algorithms/test_community.py", "algorithms/test_truss.py"),
    "algorithms/community_detection": ("algorithms/test_communities.py",),
    "algorithms/mmr": ("algorithms/test_diverse.py", "select/test_selects.py"),
    "algorithms/transport": (
        "algorithms/test_transport.py",
        "algorithms/test_neighbourhood.py",
    ),
    "algorithms/pagerank": (
        "algorithms/test_pagerank_kernels.py",
        "algorithms/test_pagerank.py",
        "algorithms/test_top_pagerank.py",
        "algorithms/test_uniform_jumps.py",
    ),
    "algorithms/traversal/kernels/hops": ("measure/test_quality.py",),
    "algorithms/traversal": ("algorithms/test_breadth.py", "algorithms/test_best_first.py"),
    "algorithms/nearest": ("algorithms/test_nearest.py", "algorithms/test_hnsw.py"),
    "select/bridges": ("select/test_bridges.py",),
    "documentation/merging": (
        "documentation/test_merging.py",
        f"{DOCUMENTATION}::test_sections_that_say_the_same_are_one_and_others_stay",
    ),
}
EXAMPLES = "test_doctests.py::test_the_examples_of_a_module_give_what_they_show"
SETTINGS = ("test_sources_table.py", "test_defaults.py")  # cover the defaults of all modules

# By module: (a line, the mutated line) -> why no test can tell them apart.
EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "select/mcmi": {
        (
            "old_slots = np.concatenate([old_slots, np.full(len(passages), -1)])",
            "old_slots = np.concatenate([old_slots, np.full(len(passages), - 2)])",
        ): "what is asked is whether it is below 0",
        (
            "return SteinerForest(forest.nodes[forest.nodes < n], slots, float(lengths[slots].sum()))",
            "return SteinerForest(forest.nodes[forest.nodes != n], slots, float(lengths[slots].sum()))",
        ): "n is the extra node, and no row is above it",
    },
    "spread/local_pagerank": {
        (
            "restarts = restarts[prizes[restarts] > 0]",
            "restarts = restarts[prizes[restarts] != 0]",
        ): "prizes are not negative",
    },
    "algorithms/budgeted/enumeration": {
        (
            "order = np.flatnonzero(upper > 0)",
            "order = np.flatnonzero(upper > -1)",
        ): "the search passes over rows that are out",
    },
    "algorithms/budgeted/kernels/enumeration": {
        (
            "pick, pick_weight = -1, -1.0",
            "pick, pick_weight = -1, - 2.0",
        ): "weights are not negative",
        (
            "depth += upper[row] > 0 and not required[row]",
            "depth += upper[row] > -1 and not required[row]",
        ): "a larger stack",
    },
    "algorithms/budgeted/kernels/growth": {
        (
            "cost[best], gain[best], parents[best] = 0.0, 0.0, -1",
            "cost[best], gain[best], parents[best] = 0.0, 0.0, 1",
        ): "nobody asks for the parent of a row inside",
        (
            "if inside[row] or prizes[row] <= 0 or parents[row] == NO_PARENT or cost[row] > left:",
            "if inside[row] or prizes[row] == 0 or parents[row] == NO_PARENT or cost[row] > left:",
        ): "prizes are not negative",
    },
    "algorithms/steiner/forest": {
        (
            "self, terminals: NDArray[np.int64], max_path: float = np.inf, exhaustive: bool = False",
            "self, terminals: NDArray[np.int64], max_path: float = np.inf, exhaustive: bool = True",
        ): "the search that does not stop early finds the same forest",
    },
    "algorithms/steiner/kernels/lengths": {
        (
            "if len(ends.query) == 0",
            "if len(ends.query) <= 0",
        ): "no length is below 0",
        (
            "measured = min(max(product(vectors[end], query), -1.0), 1.0)",
            "measured = min(max(product(vectors[end], query), -1.0), 2.0)",
        ): "a cosine is above 1 by rounding alone, and lengths are cut at 1e-6",
    },
    "algorithms/community_detection/kernels": {
        (
            "new, count = np.full(len(number), -1, np.int64), 0",
            "new, count = np.full(len(number), - 2, np.int64), 0",
        ): "what is asked is whether it is below 0",
    },
    "algorithms/pagerank/uniform_jumps": {
        (
            "x = solve_places(over, r, damping, tolerance / 4)",
            "x = solve_places(over, r, damping, tolerance / 5)",
        ): "a finer tolerance keeps the promise, too",
        (
            "x = solve_places(over, r, damping, tolerance / 4)",
            "x = solve_places(over, r, damping, tolerance / 3)",
        ): "the steps that follow prove the tolerance, from wherever they begin",
    },
    "algorithms/steiner/kernels/searches": {
        (
            "length = fixed[slot] if is_fixed else 0.0",
            "length = fixed[slot] if is_fixed else -1.0",
        ): "a shortcut: a length that is not measured yet is, and then it is asked again",
    },
    "algorithms/steiner/kernels/spanning": {
        (
            "for i in range(0 if induced else len(chosen)):",
            "for i in range( -1 if induced else len(chosen)):",
        ): "either range is empty",
    },
    "algorithms/community_search/truss": {
        (
            "if values[0] < 0:",
            "if values[0] < 1:",
        ): "the trussness of an edge is at least 2",
    },
    "algorithms/community_search/kernels/q_peel": {
        (
            "return inside, edges[:0], 0.0, own[:0]",
            "return inside, edges[:0], 0.0, own[: 1]",
        ): "where there are no rows, nobody asks for the means",
    },
    "algorithms/community_search/kernels/truss": {
        (
            "max_degree = max(max_degree, starts[row + 1] - starts[row])",
            "max_degree = max(max_degree, starts[row + 1] ^ starts[row])",
        ): "never less than the difference: a larger table",
        (
            "others, edges, stops = targets[:0].copy(), edge_of[:0].copy(), starts[:0].copy()",
            "others, edges, stops = targets[:0].copy(), edge_of[: 1].copy(), starts[:0].copy()",
        ): "arrays that nobody reads, of the types of those that come later",
    },
    "algorithms/community_search/kernels/cascading": {
        (
            "for slot in range(starts[other], starts[other + 1]):",
            "for slot in range(starts[other], starts[other & 1]):",
        ): "edges between nodes that are gone decide nothing: none leads to those that remain",
        (
            "parts = part.max() + 1 if n > 0 else 0",
            "parts = part.max() + 1 if n > 0 else 1",
        ): "a part without nodes is passed by",
    },
    "algorithms/transport/fused_gromov_wasserstein": {
        (
            "symmetric=True,",
            "symmetric=False,",
        ): "POT then computes the same by the general formula",
    },
    "algorithms/transport/kernels/fusing": {
        (
            "if at < m and sorted_rows[at] == row:",
            "if at != m and sorted_rows[at] == row:",
        ): "a place to insert at is at most m",
        (
            "if at < m and sorted_rows[at] == heads[edge]:",
            "if at != m and sorted_rows[at] == heads[edge]:",
        ): "likewise",
    },
    "methods/kurisu/branching": {
        (
            "if deviation <= 0:",
            "if deviation < 0:",
        ): "a shortcut: with a deviation of 0 all points of the quadrature are the mean",
    },
    "methods/kurisu/traversal": {
        (
            "if len(relevant) > 1:",
            "if len(relevant) > 0:",
        ): "a shortcut: of one child there is no fusion and no test",
        (
            "order = np.lexsort((dense_ranks(strengths, 1.0), heads))",
            "order = np.lexsort((dense_ranks(strengths, 2.0), heads))",
        ): "strengths are equal within a millionth or two of them",
    },
    "methods/kurisu/children": {
        (
            "elif len(rows) == 1:",
            "elif len(rows) == 0:",
        ): "a shortcut: the children of one row are in order, and what follows changes nothing",
        (
            "if (np.diff(heads[order]) > 0).all():  # a tree: every head has one edge",
            "if (np.diff(heads[order]) > 1).all():  # a tree: every head has one edge",
        ): "a shortcut: where every head has one edge, what follows gives the same",
    },
    "algorithms/nearest/hnsw": {
        (
            "self._set_deleted(self.deleted | chosen)",
            "self._set_deleted(self.deleted ^ chosen)",
        ): "what is chosen was not deleted",
    },
    "algorithms/nearest/exact": {
        (
            "came, old = np.nonzero(cosines[:, :n_before] >= floors - np.float32(2 * TOLERANCE))",
            "came, old = np.nonzero(cosines[:, :n_before] >= floors - np.float32(2 ** TOLERANCE))",
        ): "a lower floor lets more candidates wait, of which the nearest are taken",
        (
            "cosines[own, own] = -1",
            "cosines[own, own] = - 2",
        ): "neighbours have a cosine above 0",
    },
    "seed/mapped_facts": {
        (
            "np.maximum(cosines(facts.vectors, vector), 0)",
            "np.maximum(cosines(facts.vectors, vector), -1)",
        ): "facts with a score of 0 or below are left out",
    },
    "algorithms/budgeted/shared_costs": {
        (
            "tokens[np.isin(shared.groups, list(part.closed))] = budget + 1",
            "tokens[np.isin(shared.groups, list(part.closed))] = budget + 2",
        ): "any number above the budget forbids a row",
    },
    "algorithms/steiner/lengths": {
        (
            "lazy, fixed = LazyLengths(Ragged.empty(0), nothing, np.zeros(0), 1.0), lengths",
            "lazy, fixed = LazyLengths(Ragged.empty( -1), nothing, np.zeros(0), 1.0), lengths",
        ): "fixed lengths are read, and no slot is looked up",
    },
    "algorithms/pagerank/full": {
        (
            "if kind is np.float64:",
            "if kind == np.float64:",
        ): "types are equal where they are the same",
    },
    "algorithms/traversal/reached": {
        (
            "LARGE = 2**31 - 1  # more than there are rows, hops or tokens",
            "LARGE = 3**31 - 1  # more than there are rows, hops or tokens",
        ): "still more than there are",
        (
            "LARGE = 2**31 - 1  # more than there are rows, hops or tokens",
            "LARGE = 2**31 - 0  # more than there are rows, hops or tokens",
        ): "still more than there are",
    },
    "algorithms/mmr/kernels": {
        (
            "tie_keys, ties, tied = np.empty(max(n, 1)), np.empty(max(n, 1), np.int64), 0  # by place",
            "tie_keys, ties, tied = np.empty(max(n, 1)), np.empty(max(n, 2), np.int64), 0  # by place",
        ): "a longer array, of which the same places are used",
    },
    "documentation/merging": {
        (
            "most_shared = sorted(shared, key=lambda j: (-shared[j], j))[:MAX_RELATED]",
            "most_shared = sorted(shared, key=lambda j: (~shared[j], j))[:MAX_RELATED]",
        ): "all keys are one lower",
    },
}


@dataclass(frozen=True)
class Named:
    """A mutant that once was alive: what is changed where."""

    name: str
    module: str
    before: str
    after: str


_DA_RAG, _JUDGED = "methods/da_rag/selection", "methods/da_rag/method"
NAMED = (
    Named(
        "coarse to fine from the first community only",
        _DA_RAG,
        "chosen = [one.community.rows for one in communities if one.retained]",
        "chosen = [one.community.rows for one in communities if one.retained][:1]",
    ),
    Named(
        "the room of chunks is ignored",
        _DA_RAG,
        "return self.rooms(budget).chunks",
        "return None",
    ),
    Named(
        "the room of chunks is ignored when communities are chosen",
        _DA_RAG,
        "if tokens <= room or not read:",
        "if tokens >= 0:",
    ),
    Named(
        "the room of one report of facts is ignored",
        _DA_RAG,
        "if tokens + cost > room:",
        "if tokens + cost < 0:",
    ),
    Named(
        "the room of one report by the model is ignored",
        _JUDGED,
        "judgement.report, min(rooms.report, rooms.reports)",
        "judgement.report, rooms.reports",
    ),
    Named(
        "Stouffer without the root",
        _DA_RAG,
        "(community.mean - mean) * np.sqrt(len(community)) / deviation",
        "(community.mean - mean) / deviation",
    ),
    Named(
        "Stouffer by the size, not its root",
        _DA_RAG,
        "(community.mean - mean) * np.sqrt(len(community)) / deviation",
        "(community.mean - mean) * len(community) / deviation",
    ),
    Named(
        "the sign of graft_rate",
        "methods/kurisu/traversal",
        "candidates.strengths[order] + rule.graft_rate * (",
        "candidates.strengths[order] - rule.graft_rate * (",
    ),
    Named(
        "the relevance threshold is fixed at .3",
        "methods/kurisu/traversal",
        "exceeds(values[order], self.parameters.sim_threshold * best, best)",
        "exceeds(values[order], 0.3 * best, best)",
    ),
    Named(
        "the threshold of grafts is fixed at .3",
        "methods/kurisu/traversal",
        "exceeds(similarities[order], rule.sim_threshold * best, best)",
        "exceeds(similarities[order], 0.3 * best, best)",
    ),
    Named(
        "no two sections say the same",
        "documentation/merging",
        "MIN_COSINE = 0.9",
        "MIN_COSINE = 2.0",
    ),
)


@dataclass(frozen=True)
class Mutant:
    """A changed module.

    Attributes:
        module: its path in src/clew, without ".py".
        what: what was changed: a cosmic-ray operator, or a name.
        code: the changed module.
        lines: the lines that differ, before and after.
    """

    module: str
    what: str
    code: str
    lines: tuple[str, str]


class Significant(ast.NodeTransformer):
    """What is left of a module without annotations, docstrings and decorators that do not decide.

    Those are `compiled`, `lru_cache` with its size, and that a dataclass is frozen: another has no
    hash, and no index asks it. Nor does `strict`, by which a zip checks what is so.
    """

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        node.decorator_list = [
            one
            for one in node.decorator_list
            if "'compiled'" not in ast.dump(one) and "'lru_cache'" not in ast.dump(one)
        ]
        for argument in [*node.args.args, *node.args.kwonlyargs]:
            argument.annotation = None
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [
            one for one in node.decorator_list if "'frozen'" not in ast.dump(one)
        ]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [one for one in node.keywords if one.arg != "strict"]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        names = [one.id for one in node.targets if isinstance(one, ast.Name)]
        return None if names == ["__all__"] else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)


def significant(code: str) -> str:
    """Return what decides how a module behaves, as a text that can be compared."""
    return ast.dump(Significant().visit(ast.parse(code)))


def orders_texts(code: str) -> bool:
    """Return whether a module asks which of two words comes first, as only a mutant does."""
    return any(
        isinstance(side, ast.Constant) and isinstance(side.value, str)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Compare)
        and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot))
        for side in (node.left, *node.comparators)
    )


def modules_of(row: str) -> list[str]:
    """Return the modules of a row of `TESTS`, by path without ".py"."""
    house = ROOT / "src" / "clew"
    if (house / f"{row}.py").exists():
        return [row]
    found = sorted(
        file.relative_to(house).with_suffix("").as_posix() for file in (house / row).rglob("*.py")
    )
    return [one for one in found if row_of(one) == row and not one.endswith("__init__")]


def row_of(module: str) -> str:
    """Return the row of `TESTS` that a module belongs to."""
    return next(row for row in TESTS if module == row or module.startswith(f"{row}/"))


def changed_lines(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ, before and after, each as one text."""
    diff = [
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith(("- ", "+ "))
    ]
    return tuple(" / ".join(one[2:].strip() for one in diff if one[0] == sign) for sign in "-+")


def sampled_mutants(module: str, sample: int, rng: random.Random) -> Iterator[Mutant]:
    """Yield as many mutants of a module as are wanted, or as there are places."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    code = (ROOT / "src" / "clew" / f"{module}.py").read_text("utf-8")
    nodes, places = list(ast_nodes(get_ast(code))), dict[tuple[int, int], list[tuple[str, int]]]()
    for name in operator_names():
        operator = get_operator(name)
        if operator.arguments():
            continue
        positions = (at for node in nodes for at in operator().mutation_positions(node))
        for occurrence, (start, _) in enumerate(positions):
            places.setdefault(start, []).append((name, occurrence))
    original = significant(code)
    chosen = 0
    for place in rng.sample(sorted(places), len(places)):
        if chosen == sample:
            return
        name, occurrence = rng.choice(places[place])
        mutated = mutate_code(code, get_operator(name)(), occurrence)
        try:
            if mutated is None or significant(mutated) == original or orders_texts(mutated):
                continue
        except SyntaxError:
            continue
        chosen += 1
        yield Mutant(module, name, mutated, changed_lines(code, mutated))


def named_mutants() -> Iterator[Mutant]:
    """Yield the mutants of `NAMED`."""
    for one in NAMED:
        code = (ROOT / "src" / "clew" / f"{one.module}.py").read_text("utf-8")
        assert code.count(one.before) == 1, f"{one.name}: its line is not there once: {one.before}"
        mutated = code.replace(one.before, one.after)
        yield Mutant(one.module, one.name, mutated, changed_lines(code, mutated))


class Workshop:
    """A copy of the repository in which one module at a time is changed, and tests are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[tuple[str, bool], tuple[list[str], int]] = {}  # options and seconds
        for name in ("src", "tests"):
            ignore = shutil.ignore_patterns("*.pyc", "data")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", folder)
        compileall.compile_dir(folder / "src", quiet=1)
        os.environ.setdefault("NUMBA_CACHE_DIR", str(folder / "machine_code"))

    def run(self, options: list[str], seconds: int, compiled: bool) -> str:
        """Return "passed", "failed", "error" or "timeout"; `seconds` are those of the processor."""
        process = multiprocessing.get_context("fork").Process(
            target=run_tests, args=(self.folder, options, seconds, compiled)
        )
        process.start()
        process.join(max(PATIENCE, 3.0 * seconds))
        if process.is_alive():
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
            return "timeout"
        results = {0: "passed", 1: "failed", -signal.SIGXCPU: "timeout"}
        return results.get(process.exitcode, "error")

    def prepare(self, row: str, compiled: bool) -> None:
        """Find out which tests of a row pass as they are, and how long they take."""
        tests = [f"tests/{test}" for test in (*TESTS[row], *SETTINGS)]
        if compiled:  # so that the machine code is there
            self.run(tests, 3600, compiled)
        begin, clock = seconds_of_children(), time.perf_counter()
        result = self.run([*tests, "--durations=0", f"--durations-min={SLOW}"], 3600, compiled)
        seconds, by_clock = seconds_of_children() - begin, time.perf_counter() - clock
        log = (self.folder / LOG).read_text("utf-8")
        if result not in ("passed", "failed"):
            raise SystemExit(f"{log[-3000:]}\nthe tests of {row} do not pass as they are")
        left_out = re.findall(r"^FAILED (.*?)(?: - .*)?$", log, re.MULTILINE)
        slow = re.findall(r"^([\d.]+)s call +(.*)$", log, re.MULTILINE)
        left_out += [test for _, test in slow]
        seconds *= 1 - sum(float(duration) for duration, _ in slow) / by_clock
        without = f", without {', '.join(left_out)}" if left_out else ""
        how = "compiled" if compiled else "as plain Python"
        print(f"the tests of {row} take {seconds:.0f} seconds {how}{without}", flush=True)
        options = ["-x", *tests, *(f"--deselect={test}" for test in left_out)]
        self.rows[row, compiled] = options, int(max(LEAST_SECONDS, SLOWER * seconds))

    def try_mutant(self, mutant: Mutant) -> str:
        """Run the tests of a module that is changed meanwhile."""
        row, compiled = row_of(mutant.module), "kernels" not in Path(mutant.module).parts
        if (row, compiled) not in self.rows:
            self.prepare(row, compiled)
        file = self.folder / "src" / "clew" / f"{mutant.module}.py"
        original = file.read_text("utf-8")
        for bytecode in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            bytecode.unlink()
        file.write_text(mutant.code, "utf-8")
        try:
            options, seconds = self.rows[row, compiled]
            examples = f"{EXAMPLES}[clew.{mutant.module.replace('/', '.')}]"
            return self.run([*options, f"tests/{examples}"], seconds, compiled)
        finally:
            file.write_text(original, "utf-8")


def seconds_of_children() -> float:
    """Return the seconds of the processor that child processes have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_tests(folder: Path, options: list[str], seconds: int, compiled: bool) -> None:
    """Run tests in a process of their own, and end it by pytest's code."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    with (folder / LOG).open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    import pytest

    os.chdir(folder)
    sys.path[:0] = [str(folder / "src")]
    if not compiled:
        run_plainly()
    options = [*options, "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
    os._exit(pytest.main([*options, "-W", "ignore:Module already imported"]))


def run_plainly() -> None:
    """Have every loop run as plain Python, as if the compiler had failed."""
    from clew.algorithms.kernels import compiler

    compiler.request = lambda kernel, arguments: compiler.Request(kernel, (), failed=True)


def load_libraries() -> None:
    """Import what takes long, once for all processes; nothing of clew."""
    import hypothesis.strategies
    import networkx
    import numba
    import pytest
    import rustworkx
    import scipy.optimize
    import scipy.sparse.csgraph
    import sklearn.decomposition

    assert all((hypothesis, networkx, numba, pytest, rustworkx, scipy, sklearn))
    assert not any(name.partition(".")[0] == "clew" for name in sys.modules)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=3, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(TESTS), help="rows of the table of tests")
    parser.add_argument("--named", action="store_true", help="only the named mutants")
    parser.add_argument("--out", type=Path, help="a file that gets a line of JSON for each mutant")
    options = parser.parse_args(arguments)
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    load_libraries()
    rng = random.Random(options.seed)
    mutants = (
        list(named_mutants())
        if options.named
        else [
            mutant
            for row in options.only
            for module in modules_of(row)
            for mutant in sampled_mutants(module, options.sample, rng)
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        survivors = try_all(Workshop(Path(folder)), mutants, options.out)
    return 1 if survivors else 0


def try_all(workshop: Workshop, mutants: list[Mutant], out: Path | None) -> list[Mutant]:
    """Try mutants, print what came of them, and return those that survive."""
    table, survivors = dict[str, list[str]](), list[Mutant]()
    for number, mutant in enumerate(mutants, 1):
        result = workshop.try_mutant(mutant)
        if result == "passed":
            known = EQUIVALENT.get(mutant.module, {}).get(mutant.lines)
            result = "equivalent" if known else "survived"
            if not known:
                survivors.append(mutant)
        table.setdefault(mutant.module, []).append(result)
        print(f"{number}/{len(mutants)} {mutant.module} {mutant.what}: {result}", flush=True)
        if result == "survived":
            print(f"    - {mutant.lines[0]}\n    + {mutant.lines[1]}", flush=True)
        if out:
            record = {"module": mutant.module, "what": mutant.what, "lines": mutant.lines}
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**record, "result": result}) + "\n")
    print_rates(table)
    return survivors


def print_rates(table: dict[str, list[str]]) -> None:
    """Print how many mutants of each module were killed, and of all."""
    print(f"{'module':<50} killed  of  equivalent")
    rows = {**table, "all": [result for results in table.values() for result in results]}
    for module, results in rows.items():
        equivalent = results.count("equivalent")
        n = len(results) - equivalent
        killed = n - results.count("survived")
        print(f"{module:<50} {killed:>6} {n:>3} {equivalent:>11}   {killed / max(n, 1):.0%}")


if __name__ == "__main__":
    sys.exit(main())
