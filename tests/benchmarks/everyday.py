"""Questions on ordinary folders: is the passage that answers first, and within the budget?

    python -m tests.benchmarks.everyday --cache CACHE --sources SOURCES
    python -m tests.benchmarks.everyday --cache CACHE --corpora django scrapy --recipes fused bm25 fifteen --half tune
    python -m tests.benchmarks.everyday --cache CACHE --sources SOURCES --corpora languages --budgets 512
    python -m tests.benchmarks.everyday --folder FOLDER --questions FILE

Corpora are made once in CACHE: of archives of the package index (`everyday_corpora.py`), and of clones
in SOURCES (`prepare/`; `everyday/README.md` has the commands). They are named one by one or by their group. Or
FOLDER is read with the questions of FILE (lines as in `everyday/*.jsonl`; see the README there). A folder is
indexed as `clew index FOLDER` does it. An answerable question is hit at k if a passage among the k
best by score, asked with `limit=10`, holds the words of the quote of one of its gold places; it is
hit in a budget if the text that would be read holds it. The first recipe is the baseline: an interval is
that of the mean paired difference from it, at 95 %. Of the questions that nothing answers, the passages
and tokens are shown that come nevertheless, at the smallest budget. `refused` counts the budgets that
raised BudgetError, of all questions; nothing is read there. Some rivals rank the same passages: `fifteen`, a BM25 of
fifteen lines; `fifteen_dense_50`, these words and the index's vectors half and half (`_30`, `_70`: of the vectors); `bm25s`, the package of that name with stemming and stop words in the corpus's language (`bm25s_rival.py`);
and `bm25s_names`, the same with names of source code taken apart at their capitals. A recipe and a kind of edge, such as
`agrag-hyperlink`, is that recipe over a graph without these edges.

Two tables are over all corpora: in the first every corpus weighs the same, in the second every question.

Choose by `--half tune` alone; `held` is run once, at the end.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew import order, recipes, select
from clew.cli.source import TOKENS
from clew.graph import text_with_heading
from clew.graph.headings import titles_of
from clew.measure.files import read_lines
from clew.measure.paired import Table, build_table
from clew.measure.quotes import Place, QuotedQuestion, lost_questions, quoted_question
from clew.read import Splitter
from clew.seed import Dense
from clew.types import Seeds
from tests.benchmarks.bm25s_rival import BM25S, LANGUAGES
from tests.benchmarks.everyday_corpora import SOURCES, WHOLE, corpus_folder, path_in_archive
from tests.benchmarks.prepare.sets import SETS, Store, further_folder, prepared_folder

QUESTIONS = Path(__file__).with_name("everyday")
KS = (1, 3, 10)
GROUPS = {  # of corpora, by name
    "documentation": ("django", "tools", "sqlalchemy"),
    "code": ("scrapy",),
} | {own.group: () for own in SETS.values() if own.group not in ("documentation", "code")}
GROUPS |= {
    group: corpora + tuple(name for name, own in SETS.items() if own.group == group)
    for group, corpora in GROUPS.items()
}
CORPORA = tuple(corpus for corpora in GROUPS.values() for corpus in corpora)
GROUPS |= {"written": tuple(SOURCES), "prepared": tuple(SETS)}
RECIPES = ("dense", "bm25", "fused", "hipporag", "budgeted", "kurisu", "fifteen")
ANY_OF_THEM = "any of them"
BUDGETS = (256, 512, 1024, 2048)
MINILM = "all-MiniLM-L6-v2"
STOP = frozenset(
    """a about all also an and any are as at be been but by can could did do does for from get had has
    have how i if in into is it its me my no not of on one or our out should so some such than that the
    their them then there these they this to up use used using was we were what when where which while
    who why will with without would you your""".split()  # noqa: SIM905 (a list of words is read as a text)
)


@dataclass(frozen=True)
class Fifteen:
    """BM25 in fifteen lines: headings twice, no stop words, plural and -ing stripped."""

    def on(self, graph):
        rows, stem = graph.rows("passage"), lambda word: re.sub(r"(?<=...)(ing|es|s)$", "", word)
        split = lambda text: [  # noqa: E731
            stem(word) for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP
        ]
        texts = [" ".join([*titles_of(graph, r), text_with_heading(graph, r)]) for r in rows]
        counts = [Counter(split(text)) for text in texts]
        lengths = np.array([count.total() for count in counts]) + 1.0
        postings = {}
        for row, count in enumerate(counts):
            for word, times in count.items():
                postings.setdefault(word, ([], []))[0].append(row)
                postings[word][1].append(times)

        def find_seeds(query):
            scores = np.zeros(len(graph))
            for word in set(split(query.text)) & set(postings):
                where, tf = (np.array(column) for column in postings[word])
                idf = math.log(1 + (len(rows) - len(where) + 0.5) / (len(where) + 0.5))
                length = 0.25 + 0.75 * lengths[where] / lengths.mean()
                scores[np.array(rows)[where]] += idf * tf / (tf + 1.2 * length)
            return Seeds(scores)

        return find_seeds


@dataclass(frozen=True)
class FifteenAndDense:
    """The same words and the index's vectors, each as a share of its best score."""

    weight: float  # of the vectors

    def on(self, graph):
        parts = (Fifteen().on(graph), 1 - self.weight), (Dense().on(graph), self.weight)

        def find_seeds(query):
            found = [(find(query).scores, weight) for find, weight in parts]
            return Seeds(sum(weight * own / max(own.max(), 1e-12) for own, weight in found))

        return find_seeds


def read_questions(path: Path, half: str) -> list[QuotedQuestion]:
    """Return the questions of one half; "all" for both."""
    return [
        quoted_question(where, record)
        for where, record in read_lines(path)
        if half in ("all", record["half"])
    ]


def method_of(name: str, corpus: str) -> Any:
    """Return the recipe of that name, or the rival for a corpus."""
    language = LANGUAGES.get(corpus, "english")
    rivals = {
        "fifteen": Fifteen(),
        **{f"fifteen_dense_{w}": FifteenAndDense(w / 100) for w in (30, 50, 70)},
        "bm25s": BM25S(language),
        "bm25s_names": BM25S(language, names=True),
    }
    if name not in rivals:
        recipe, _, kind = name.partition("-")
        method = recipes.get(recipe)
        return WithoutEdges(method, kind) if kind else method
    return clew.Pipeline(rivals[name], selects=(select.Top(),), order=order.ByPrize())


@dataclass(frozen=True)
class WithoutEdges:
    """A method over a graph without the edges of one kind."""

    method: Any
    kind: str

    def on(self, graph):
        kinds = [kind != self.kind for kind in graph.edges.kinds]
        return self.method.on(graph.with_edges(graph.edges.take(np.flatnonzero(kinds))))


def best(context: clew.Context, k: int) -> list[clew.Item]:
    """Return the k passages with the highest scores."""
    return sorted(context.items, key=lambda item: -item.score)[:k]


def of_files(question: QuotedQuestion) -> QuotedQuestion:
    """Return the question with whole files in place of what is quoted of them."""
    return QuotedQuestion(question.text, tuple(Place(place.file) for place in question.places))


def is_hit(question: QuotedQuestion, items: Sequence[clew.Item], text: str = "") -> bool:
    """Return whether what is read answers: a quote of a place, or a passage of a whole file."""
    texts = [text, *(item.text for item in items)]
    return question.is_quoted_in(texts) or question.is_answered_by(items)


def measure(
    index: clew.Index, method: Any, questions: Sequence[QuotedQuestion], budgets: Sequence[int]
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the figures of every answerable question, and the means over all others."""
    figures: dict[str, list[float]] = {}
    milliseconds, passages, tokens, refused = [], [], [], 0
    index.ask(questions[0].text, recipe=method, limit=1)  # binds the method
    for question in questions:
        contexts = {}
        for budget in budgets:
            started = time.perf_counter()
            try:
                contexts[budget] = index.ask(question.text, recipe=method, budget=budget)
            except clew.BudgetError:  # what was chosen is larger than the budget: nothing is read
                contexts[budget] = None
                refused += 1
            milliseconds.append(1000 * (time.perf_counter() - started))
        if not question.places:
            smallest = contexts[budgets[0]]
            passages.append(0 if smallest is None else len(smallest))
            tokens.append(0 if smallest is None else smallest.tokens)
            continue
        ranked = best(index.ask(question.text, recipe=method, limit=max(KS)), max(KS))
        for k in KS:
            figures.setdefault(f"hit@{k}", []).append(is_hit(question, ranked[:k]))
        for budget, context in contexts.items():
            hit = context is not None and is_hit(question, context.items, context.text)
            figures.setdefault(f"in {budget}", []).append(hit)
    mean = lambda values: f"{np.mean(values):.1f}" if values else "-"  # noqa: E731
    return figures, {
        "ms": mean(milliseconds),
        "passages, unanswerable": mean(passages),
        "tokens, unanswerable": mean(tokens),
        "refused": f"{refused}",
    }


def compare(
    title: str,
    index: clew.Index,
    names: Sequence[str],
    questions: Sequence[QuotedQuestion],
    budgets: Sequence[int],
    best_of: bool = False,
) -> tuple[Table, dict[str, dict[str, str]]]:
    """Return the table of one corpus, and its further columns by column and recipe.

    With `best_of` a row more has what any of the recipes finds: who knew beforehand which of them
    to ask, question by question and figure by figure, would have it.
    """
    measured = {name: measure(index, method_of(name, title), questions, budgets) for name in names}
    figures = {name: own for name, (own, _) in measured.items()}
    if best_of:
        own = figures.values()
        figures[ANY_OF_THEM] = {
            figure: np.max([one[figure] for one in own], axis=0).tolist()
            for figure in figures[names[0]]
        }
    table = build_table(title, figures, names[0])
    columns = measured[names[0]][1]
    return table, {
        column: {name: more[column] for name, (_, more) in measured.items()}
        | ({ANY_OF_THEM: "-"} if best_of else {})
        for column in columns
    }


def pooled(tables: Sequence[Table], *, by_corpus: bool) -> Table:
    """Return one table over the questions of all corpora.

    Args:
        tables: Of the corpora, with the same methods and figures.
        by_corpus: Whether every corpus weighs the same, however many questions it has.
    """
    first = tables[0]
    n = sum(table.values.shape[2] for table in tables)
    weights = [n / len(tables) / table.values.shape[2] if by_corpus else 1.0 for table in tables]
    values = np.concatenate(
        [weight * table.values for weight, table in zip(weights, tables, strict=True)], axis=2
    )
    figures = {
        method: {figure: values[i, j].tolist() for j, figure in enumerate(first.figures)}
        for i, method in enumerate(first.methods)
    }
    title = f"Mean over {len(tables)} corpora" if by_corpus else f"Mean over {n} questions"
    return build_table(title, figures, first.baseline)


def corpora_of(names: Sequence[str]) -> list[str]:
    """Return the corpora of names of corpora and groups, each once."""
    return list(dict.fromkeys(own for name in names for own in GROUPS.get(name, (name,))))


def add_corpora(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which corpora are asked, and which half of their questions."""
    parser.add_argument("--cache", type=Path, help="where the corpora are kept")
    parser.add_argument("--sources", type=Path, help="the folder of clones")
    parser.add_argument(
        "--corpora",
        nargs="+",
        choices=(*GROUPS, *CORPORA),
        default=list(CORPORA),
        metavar="NAME",
        help=f"groups ({', '.join(GROUPS)}) or corpora ({', '.join(CORPORA)})",
    )
    parser.add_argument("--index-url", help="the package index, unless pip's own")
    parser.add_argument("--folder", type=Path, help="a folder of your own in place of the corpora")
    parser.add_argument("--questions", type=Path, help="its questions")
    parser.add_argument("--half", choices=("tune", "held", "all"), default="tune")
    parser.add_argument(
        "--whole-archives",
        action="store_true",
        help="ask the questions of corpora that archives are made of over all that these have, with "
        "source code and tests, as in a clone of a repository",
    )
    parser.add_argument(
        "--further",
        type=int,
        metavar="N",
        help="ask what the half held has beyond its questions, up to N with these, of the sets that "
        "are cut short (with --half held)",
    )


def places_of(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> list[tuple[str, Path, Path]]:
    """Return name, folder and file of questions of every corpus, so that what is missing shows first."""
    if (options.folder is None) != (options.questions is None):
        parser.error("--folder and --questions belong together")
    if options.folder is None and options.cache is None:
        parser.error("name a folder for the corpora with --cache, or your own with --folder")
    if options.folder is not None and not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    if options.further and options.half != "held":
        parser.error("--further asks what no half has, of the files of --half held")
    own = corpora_of(options.corpora) if options.folder is None else [str(options.folder)]
    return [(corpus, *folder_and_questions(corpus, options)) for corpus in own]


def folder_and_questions(corpus: str, options: argparse.Namespace) -> tuple[Path, Path]:
    """Return the folder of a corpus and the file of its questions, made first where they are not."""
    if options.folder is not None:
        return options.folder, options.questions
    if options.whole_archives:
        return whole_archives(corpus, options)
    if corpus in SOURCES:
        folder = corpus_folder(corpus, options.cache, options.index_url)
        return folder, QUESTIONS / f"{corpus}.jsonl"
    store = Store(options.sources, options.index_url)
    if options.further:
        return further_folder(corpus, options.cache, store, options.further)
    return prepared_folder(corpus, options.cache, store)


def whole_archives(corpus: str, options: argparse.Namespace) -> tuple[Path, Path]:
    """Return the folder of all that the archives of a corpus have, and its questions on that."""
    if corpus not in SOURCES:
        raise ValueError(
            f"{corpus} is not made of archives: those that are, are {', '.join(SOURCES)}"
        )
    folder = corpus_folder(corpus, options.cache, options.index_url, whole=True)
    path = options.cache / f"{corpus}{WHOLE}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for _, record in read_lines(QUESTIONS / f"{corpus}.jsonl"):
            gold = [
                place | {"file": path_in_archive(corpus, place["file"])}
                for place in record.get("gold", ())
            ]
            print(json.dumps(record | {"gold": gold}), file=file)
    return folder, path


def index_of(folder: Path, options: argparse.Namespace) -> clew.Index:
    """Return the index of a folder, from the kept ones if nothing has changed since."""
    if not options.keep_index:
        return build_index(folder, options)
    saved = options.keep_index / f"{folder.name}-{state_of(folder, options)}"
    if not saved.exists():
        build_index(folder, options).save(saved)
    return clew.Index.load(saved, embedder=embedder_of(options.embedder))


def build_index(folder: Path, options: argparse.Namespace) -> clew.Index:
    """Return the index as `clew index FOLDER` makes it."""
    return clew.Index.from_documents(
        folder,
        splitter=Splitter(tokens=TOKENS, sentences=options.sentences),
        extractor=extractor_of(options),
        embedder=embedder_of(options.embedder),
    )


def extractor_of(options: argparse.Namespace) -> Any:
    """Return what reads facts; some benchmarks have no option for terms."""
    if getattr(options, "terms", False):
        return clew.Terms()
    return clew.NamesAndSymbols() if options.names else clew.NamesWhereMany()


def state_of(folder: Path, options: argparse.Namespace) -> str:
    """Return a name of clew's sources, the folder's files and the options that an index depends on."""
    read = f"{extractor_of(options)} {options.sentences} {options.embedder}"
    state = hashlib.sha256(read.encode())
    for path in sorted(Path(clew.__file__).parent.rglob("*.py")):
        state.update(path.read_bytes())
    for path in sorted(folder.rglob("*")):
        seen = path.stat()
        state.update(f"{path.relative_to(folder)} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return state.hexdigest()[:16]


def embedder_of(name: str | None) -> str | None:
    """Return the name that `clew.Index` takes; `minilm` needs sentence-transformers."""
    return MINILM if name == "minilm" else name


SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --recipes fused bm25 fifteen --budgets 64"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpora(parser)
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument(
        "--names",
        action="store_true",
        help="read names, symbols of source code, and facts about them",
    )
    parser.add_argument(
        "--terms", action="store_true", help="read terms in corpora in lower case, and no symbols"
    )
    parser.add_argument(
        "--sentences",
        action="store_true",
        help="index sentences as well, which kurisu reads where the budget is small",
    )
    parser.add_argument("--embedder", help="minilm, or any that clew takes (default: clew's own)")
    parser.add_argument(
        "--keep-index",
        type=Path,
        help="a folder where indexes wait for the next run of the same code",
    )
    parser.add_argument(
        "--by-file",
        action="store_true",
        help="count any passage of the file that answers, which needs no exact place",
    )
    parser.add_argument(
        "--best-of",
        action="store_true",
        help="add a row of what any of the recipes finds, as if one knew beforehand which to ask",
    )
    parser.add_argument("--intervals", action="store_true", help="write every interval")
    parser.add_argument("--json", type=Path, help="write all figures into this file, too")
    options = parser.parse_args()
    tables = []
    for corpus, folder, path in places_of(parser, options):
        questions = read_questions(path, options.half)
        if options.by_file:
            questions = [of_files(question) for question in questions]
        started = time.perf_counter()
        index = index_of(folder, options)
        seconds = time.perf_counter() - started
        table, more = compare(
            corpus, index, options.recipes, questions, options.budgets, options.best_of
        )
        tables.append(table)
        n = sum(bool(question.places) for question in questions)
        print(
            f"## {corpus}: {n} questions of the half {options.half!r} and {len(questions) - n} that "
            f"nothing answers, {len(index):,} files, {len(index.graph.rows('passage')):,} passages, "
            f"read in {seconds:.0f} s; no passage holds a whole quote of "
            f"{len(lost_questions(index, questions))}\n"
        )
        print(table.to_markdown(intervals=options.intervals, more=more), flush=True)
        print()
    if len(tables) > 1:
        for by_corpus in (True, False):
            table = pooled(tables, by_corpus=by_corpus)
            print(f"## {table.title}\n\n{table.to_markdown(intervals=True)}\n")
    if options.json:
        options.json.write_text(json.dumps([table.to_dict() for table in tables]), encoding="utf-8")


if __name__ == "__main__":
    main()
