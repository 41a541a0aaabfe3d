"""Descent through the standard library's documentation, beside dense, blended and parent-document retrieval at equal token budgets.

    python -m tests.benchmarks.kurisu --splits 5 --questions 100 --budgets 128 256 512 1024

The docstrings of some dozens of modules become Markdown documents (module > class > function), cut into sections, passages and
sentences. For each split other sentences are taken out of the text, and each is asked as a question whose answer is the section that it
was taken from. `hit`: the share of questions with anything of that section in the context; `cover`: the mean share of its text there.
Differences from the baseline are paired by question, with 95 % intervals by bootstrap over all splits.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import clew
from clew import Pipeline, order, recipes, seed, select
from clew.graph import Floats, Graph, freeze
from clew.types import Query, Seeds, Subgraph

NAMES = """
abc argparse array asyncio.queues asyncio.streams bisect calendar cmd codecs collections colorsys concurrent.futures configparser
contextlib copy csv datetime decimal difflib dis doctest email.message enum filecmp fileinput fractions ftplib functools getopt
gettext glob gzip heapq hmac html.parser http.client http.cookiejar imaplib inspect io ipaddress json.decoder json.encoder locale
logging logging.handlers mailbox mimetypes numbers operator optparse os pathlib pdb pickle pickletools platform plistlib poplib
pprint profile queue random sched secrets selectors shelve shlex shutil smtplib socket socketserver sqlite3 ssl statistics string
subprocess tarfile tempfile textwrap threading timeit tokenize trace traceback types typing unittest.case unittest.mock
urllib.parse urllib.request uuid wave weakref xml.dom.minidom xml.etree.ElementTree zipfile
"""
MODULES = tuple(NAMES.split())


@dataclass(frozen=True)
class Entry:
    """A definition with a docstring: its level, heading and sentences by paragraph."""

    level: int
    heading: str
    paragraphs: tuple[tuple[str, ...], ...]


def entries(module: str) -> list[Entry]:
    """The definitions of a module that say something of themselves, in order."""
    try:
        tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    except (OSError, TypeError, ImportError):
        return []
    found: list[Entry] = []

    def visit(node: Any, level: int, name: str) -> None:
        said = ast.get_docstring(node)
        if (said and not isinstance(node, ast.Module)) or level == 1:
            found.append(
                Entry(
                    level,
                    name,
                    tuple(
                        tuple(sentences(p)) for p in re.split(r"\n\s*\n", said or "") if p.strip()
                    ),
                )
            )
        for child in node.body:
            if isinstance(child, ast.ClassDef):
                visit(child, level + 1, f"class {child.name}")
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                visit(
                    child,
                    level + 1,
                    f"{child.name}({', '.join(arg.arg for arg in child.args.args)})",
                )

    visit(tree, 1, module)
    return found


def sentences(paragraph: str) -> list[str]:
    flat = " ".join(paragraph.split())
    return [part for part in re.split(r"(?<=[.!?]) +(?=[A-Z`'\"(])", flat) if part]


def corpus(
    modules: list[str], questions: int, number: int
) -> tuple[list[clew.Document], list[tuple[str, str, str]]]:
    """Documents without the held-out sentences, and (question, module, heading) for each of these."""
    said = {module: entries(module) for module in modules}
    said = {
        module: found
        for module, found in said.items()
        if sum(len(p) for entry in found for p in entry.paragraphs) > 10
    }
    places = [
        (module, e, p, s)
        for module, found in said.items()
        for e, entry in enumerate(found)
        for p, paragraph in enumerate(entry.paragraphs)
        for s, sentence in enumerate(paragraph)
        if e
        and sum(map(len, entry.paragraphs)) >= 3
        and len(sentence.split()) >= 6
        and ">>>" not in sentence
    ]
    held, used = [], set()
    for place in random.Random(number).sample(places, len(places)):
        if (place[:2]) not in used and len(held) < questions:
            held.append(place)
            used.add(place[:2])
    out, asked = set(held), []
    documents = []
    for module, found in said.items():
        lines, above = [], []
        for e, entry in enumerate(found):
            above = [*above[: entry.level - 1], entry.heading]
            lines.append("#" * min(entry.level, 6) + " " + entry.heading)
            for p, paragraph in enumerate(entry.paragraphs):
                left = [s for i, s in enumerate(paragraph) if (module, e, p, i) not in out]
                asked += [
                    (s, module, " > ".join(above))
                    for i, s in enumerate(paragraph)
                    if (module, e, p, i) in out
                ]
                lines.append(escaped(" ".join(left)))
        documents.append(clew.Document(module, "\n\n".join(lines), format="markdown"))
    return documents, asked


def escaped(text: str) -> str:
    return re.sub(r"^([#>*+-]|\d+[.)])", r"\\\1", text)


@dataclass(frozen=True)
class ParentDocument:
    """Small pieces are searched, the sections around them are read whole, best piece first (LangChain's ParentDocumentRetriever)."""

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        sections = sections_of(graph)
        members: dict[int, list[int]] = {}
        for row in graph.rows("passage").tolist():
            members.setdefault(int(sections[row]), []).append(row)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            best: dict[int, float] = {}
            for row in np.flatnonzero(prizes > 0).tolist():
                best[int(sections[row])] = max(
                    best.get(int(sections[row]), 0.0), float(prizes[row])
                )
            chosen, passed = [], 0
            for section in sorted(best, key=lambda s: (-best[s], s)):
                for row in members.get(section, ()):
                    if graph.tokens[row] <= budget:
                        chosen.append(row)
                        budget -= int(graph.tokens[row])
                    else:
                        passed += 1
                if passed > 100:
                    break
            return Subgraph(freeze(chosen, np.int32))

        return select


def sections_of(graph: Graph) -> Any:
    """The nearest section (or document) at or around every node."""
    container = graph.kinds.mask("section", "document")
    found = np.arange(len(graph))
    while (inner := ~container[found] & (graph.parents[found] >= 0)).any():
        found[inner] = graph.parents[found[inner]]
    return found


def measured(
    index: clew.Index,
    asked: list[tuple[str, str, str]],
    methods: dict[str, Any],
    budgets: list[int],
) -> dict[str, Any]:
    """hit and cover by method and budget, one number per question."""
    graph = index.graph
    section = sections_of(graph)
    heading = {}
    for row in graph.rows("section").tolist():
        titles, at = [], row
        while graph.parents[at] >= 0:
            titles.append(graph.texts[at])
            at = int(graph.parents[at])
        heading.setdefault((graph.ids[at], " > ".join(reversed(titles))), row)
    figures: dict[str, Any] = {}
    for question, module, wanted in asked:
        gold = heading.get((module, wanted))
        if gold is None:
            continue
        passages = [row for row in graph.rows("passage").tolist() if section[row] == gold]
        size = sum(len(graph.texts[row]) for row in passages)
        if not size:
            continue
        vector = index.embedder.embed_question(question)
        for name, method in methods.items():
            for budget in budgets:
                begun = time.perf_counter()
                try:
                    context = index.ask(question, recipe=method, budget=budget, vector=vector)
                except ValueError:
                    context = None
                took = time.perf_counter() - begun
                rows = [graph.row(item.id) for item in context or () if item.role != "fact"]
                there = [row for row in rows if section[row] == gold]
                key = (name, budget)
                figures.setdefault(("hit", *key), []).append(float(bool(there)))
                figures.setdefault(("cover", *key), []).append(
                    min(1.0, sum(len(graph.texts[row]) for row in there) / size)
                )
                figures.setdefault(("ms", *key), []).append(1000 * took)
    return figures


PIECES = ("passage", "sentence", "report")
METHODS = {
    "dense": recipes.get("dense"),
    "fused": recipes.get("fused"),
    "dense, also sentences": Pipeline(
        seed.Dense(PIECES), selects=(select.Top(),), order=order.ByPrize()
    ),
    "parent document": Pipeline(
        seed.Dense(PIECES), selects=(ParentDocument(),), order=order.ByDocument()
    ),
    "hipporag": recipes.get("hipporag"),
    "agrag": recipes.get("agrag"),
    "budgeted": recipes.get("budgeted"),
    "kurisu": recipes.get("kurisu"),
    "kurisu, one path": replace(
        recipes.get("kurisu"), selects=(replace(recipes.get("kurisu").selects[0], max_paths=1),)
    ),
    "kurisu, 5 paths": replace(
        recipes.get("kurisu"), selects=(replace(recipes.get("kurisu").selects[0], max_paths=5),)
    ),
    "kurisu, no documents": replace(recipes.get("kurisu"), spreads=()),
    "kurisu, whole texts": replace(
        recipes.get("kurisu"),
        selects=(replace(recipes.get("kurisu").selects[0], fused_vector="text"),),
    ),
    "kurisu_paper": recipes.get("kurisu_paper"),
    "kurisu, no fusion": replace(
        recipes.get("kurisu"),
        selects=(replace(recipes.get("kurisu").selects[0], fgw_threshold=-1.0),),
    ),
    "kurisu, means": replace(
        recipes.get("kurisu"),
        selects=(replace(recipes.get("kurisu").selects[0], container_similarity="mean"),),
    ),
}


def interval(differences: Any, samples: int = 2000) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    drawn = rng.choice(differences, (samples, len(differences))).mean(axis=1)
    return float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def quality(args: argparse.Namespace) -> None:
    """Print hit and cover of every method at every budget, marked where they differ from the baseline."""
    figures: dict[Any, list[float]] = {}
    for split in range(args.splits):
        documents, asked = corpus(list(MODULES[: args.modules]), args.questions, split)
        cut = clew.Splitter(args.tokens, sentences=True)
        index = clew.Index.from_documents(
            documents, splitter=cut, extractor=clew.Names() if args.names else None
        )
        for key, values in measured(
            index, asked, {name: METHODS[name] for name in args.methods}, args.budgets
        ).items():
            figures.setdefault(key, []).extend(values)
        print(f"split {split}: {index}", flush=True)
    n = len(next(iter(figures.values())))
    print(
        f"\n{n} questions; hit/cover by budget, marked against {args.baseline}; median ms at the largest"
    )
    print(f"{'':24}" + "".join(f"{budget:>18}" for budget in args.budgets))
    for name in args.methods:
        cells = []
        for budget in args.budgets:
            cell = []
            for figure in ("hit", "cover"):
                own, base = (
                    np.array(figures[(figure, which, budget)]) for which in (name, args.baseline)
                )
                low, high = interval(own - base)
                cell.append(f"{own.mean():.3f}" + ("^" if low > 0 else "v" if high < 0 else " "))
            cells.append("/".join(cell))
        ms = np.median(figures[("ms", name, args.budgets[-1])])
        print(f"{name:24}" + "".join(f"{cell:>18}" for cell in cells) + f"{ms:8.1f}", flush=True)


def learning(args: argparse.Namespace) -> None:
    """Print hit and cover after learning from half of a module's questions, again and again: on these, the other half, other modules'."""
    figures: dict[Any, list[float]] = {}
    drift: list[float] = []
    for split in range(args.splits):
        documents, asked = corpus(list(MODULES[: args.modules]), 1600, split)
        index = clew.Index.from_documents(
            documents, splitter=clew.Splitter(args.tokens, sentences=True)
        )
        of = {
            name: [one for one in asked if one[1] == name]
            for name in {module for _, module, _ in asked}
        }
        for name in sorted(of, key=lambda name: (-len(of[name]), name))[:4]:
            own, others = of[name][: args.questions], [one for one in asked if one[1] != name]
            taught = index
            for question, _, _ in own[::2] * args.rounds:
                taught = taught.learn(
                    taught.ask(question, recipe="kurisu", budget=args.budgets[-1])
                )
            learned = taught.learned
            drift += [
                strength - learned.built[pair]
                for pair, strength in learned.strengths.items()
                if learned.built[pair]
            ]
            step = max(1, len(others) // (args.questions // 2))
            for which, questions in (
                ("repeated", own[::2]),
                ("related", own[1::2]),
                ("of others", others[::step][: args.questions // 2]),
            ):
                for state, it in (("off", index), ("on", taught)):
                    for key, values in measured(
                        it, questions, {state: recipes.get("kurisu")}, args.budgets
                    ).items():
                        figures.setdefault((which, *key), []).extend(values)
        print(f"split {split}", flush=True)
    print(
        f"\nlearning, {args.rounds} rounds over half of a module's questions; hit/cover by budget, marked against off"
    )
    print(f"{'':14}" + "".join(f"{budget:>18}" for budget in args.budgets))
    for which in ("repeated", "related", "of others"):
        for state in ("off", "on"):
            cells = []
            for budget in args.budgets:
                cell = []
                for figure in ("hit", "cover"):
                    mine, off = (
                        np.array(figures[(which, figure, of, budget)]) for of in (state, "off")
                    )
                    low, high = interval(mine - off)
                    cell.append(
                        f"{mine.mean():.3f}" + ("^" if low > 0 else "v" if high < 0 else " ")
                    )
                cells.append("/".join(cell))
            print(
                f"{which:10}{state:4}"
                + "".join(f"{cell:>18}" for cell in cells)
                + f"   ({len(mine)} questions)"
            )
    print(
        f"strengths beside those built: mean {np.mean(drift):+.3f}, from {min(drift):+.3f} to {max(drift):+.3f}"
    )


def drifting(args: argparse.Namespace) -> None:
    """Print what strengths come to when an index learns from so many questions, asked one after the other of what it has learnt."""
    documents, asked = corpus(list(MODULES[: args.modules]), 1600, 0)
    index = taught = clew.Index.from_documents(
        documents, splitter=clew.Splitter(args.tokens, sentences=True)
    )
    print(
        f"\n{args.drift} questions learnt, all over the corpus and each again and again: strengths beside those built, and grafts"
    )
    for number in range(args.drift):
        question = asked[number % 100][0]
        taught = taught.learn(taught.ask(question, recipe="kurisu", budget=args.budgets[-1]))
        if number + 1 in (10, 100, args.drift // 2, args.drift):
            learned = taught.learned
            off = np.array(
                [
                    strength - learned.built[pair]
                    for pair, strength in learned.strengths.items()
                    if learned.built[pair]
                ]
            )
            most = max(
                strength for pair, strength in learned.strengths.items() if learned.built[pair]
            )
            print(
                f"{number + 1:6} mean {off.mean():+.4f}, from {off.min():+.3f} to {off.max():+.3f}, the strongest {most:.3f}, "
                f"{len(off):,} edges, {len(learned) - len(off):,} grafts",
                flush=True,
            )
    back = taught.forget().graph.edges
    print(
        f"forgotten: weights as built {bool(np.array_equal(back.weights, index.graph.edges.weights))}"
    )


def speed(args: argparse.Namespace) -> None:
    """Print the time of a whole question over a corpus of so many sentences, beside an exact dense search over them."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(3000)]
    documents = []
    for d in range(args.sentences // 100):
        topic = rng.choice(words, 60)
        parts = [
            f"## Section {s}\n\n"
            + "\n\n".join(
                " ".join(" ".join(rng.choice(topic, 9)).capitalize() + "." for _ in range(5))
                for _ in range(4)
            )
            for s in range(5)
        ]
        documents.append(clew.Document(f"d{d}", "\n\n".join(parts), format="markdown"))
    vectors: dict[str, Any] = {}

    def embed(texts: list[str]) -> Any:
        for text in texts:
            if text not in vectors:
                own = np.random.default_rng(sum(map(ord, text)) + len(text)).normal(size=384)
                topic = np.random.default_rng(sum(map(ord, text.split("\n")[0]))).normal(size=384)
                vectors[text] = own + topic
        return np.array([vectors[text] for text in texts])

    index = clew.Index.from_documents(
        documents, embedder=embed, splitter=clew.Splitter(70, sentences=True)
    )
    graph = index.graph
    rows = np.sort(np.concatenate([graph.rows("sentence")]))
    matrix = np.ascontiguousarray(graph.vectors[rows])
    dense = Pipeline(seed.Dense(("sentence",)), selects=(select.Top(),), order=order.ByPrize())
    took: dict[str, list[float]] = {
        "exact search": [],
        "dense, whole question": [],
        "kurisu, whole question": [],
    }
    for number in range(60):
        row = int(rng.choice(rows))
        vector = graph.vectors[row] + 0.05 * rng.normal(size=384).astype(np.float32)
        for name, work in (
            ("exact search", lambda of: np.argpartition(-(matrix @ of), 10)[:10]),
            (
                "dense, whole question",
                lambda of: index.ask("a question", recipe=dense, budget=1000, vector=of),
            ),
            (
                "kurisu, whole question",
                lambda of: index.ask("a question", recipe="kurisu", budget=1000, vector=of),
            ),
        ):
            begun = time.process_time()
            work(vector)
            took[name].append(time.process_time() - begun)
        if number == 4:
            took = {name: [] for name in took}  # what is compiled and made once per graph
    print(f"\n{len(rows):,} sentences, {index}")
    base = np.median(took["dense, whole question"])
    for name, times in took.items():
        bare = np.median(times) / np.median(took["exact search"])
        print(
            f"{name:24}{1000 * np.median(times):8.2f} ms processor time, {np.median(times) / base:6.2f} of dense, {bare:6.1f} of exact"
        )


SMOKE = "--splits 1 --questions 4 --modules 3 --budgets 128 --methods dense kurisu --rounds 1 --sentences 300 --drift 10"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--questions", type=int, default=100, help="of each split, or of a module")
    parser.add_argument("--modules", type=int, default=45, help="the first so many of the list")
    parser.add_argument("--tokens", type=int, default=120, help="the most tokens of a passage")
    parser.add_argument("--budgets", type=int, nargs="+", default=[128, 256, 512, 1024])
    parser.add_argument("--baseline", default="dense", choices=METHODS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument(
        "--names",
        action="store_true",
        help="read names and what is said of them, for the methods on facts",
    )
    parser.add_argument("--rounds", type=int, default=3, help="of learning")
    parser.add_argument(
        "--sentences", type=int, default=10_000, help="of the corpus that times are taken on"
    )
    parser.add_argument(
        "--drift",
        type=int,
        default=1000,
        help="questions that an index learns from, one after the other",
    )
    parser.add_argument(
        "--only",
        choices=("quality", "learning", "drift", "speed"),
        help="one of the four; all without",
    )
    args = parser.parse_args()
    for name, run in (
        ("quality", quality),
        ("learning", learning),
        ("drift", drifting),
        ("speed", speed),
    ):
        if args.only in (None, name):
            run(args)


if __name__ == "__main__":
    main()
