"""`clew measure`: recipes side by side, on questions with known answers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from clew import recipes
from clew.algorithms.kernels.compiled import compile_first
from clew.cli import models
from clew.cli.parser import (
    Commands,
    Parser,
    add_command,
    names,
    non_negative_integer,
    positive_integer,
    positive_integers,
)
from clew.cli.settings import (
    add_settings_option,
    check_used,
    configured,
    index_settings,
    label_of,
    method_of,
    recipe_settings,
)
from clew.cli.source import TOKENS, add_pattern_options, existing_path, patterns_of, print_skipped
from clew.cli.terminal import print_json, print_result, shows_progress
from clew.generate import Reports
from clew.index.config import FACTS
from clew.index.index import Index
from clew.measure import (
    Benchmark,
    Comparison,
    ModelMeter,
    answer_figures,
    compare_folder,
    compare_quotes,
    generate_questions,
    judge_recipes,
    prepare,
    read_questions,
    read_quoted_questions,
    write_questions,
)
from clew.measure.compare import BUDGETS, KS
from clew.measure.files import find_file
from clew.measure.quotes import KS as QUOTE_KS
from clew.read import Names, Splitter, Terms
from clew.storage import is_storage
from clew.store import is_index
from clew.types import Method

DA_RAG_TOKENS = 8800  # its own budgets: 4,800 for reports and 4,000 for chunks

EXAMPLES = """examples:
  clew measure --prepare hotpot_dev_distractor_v1.json -o hotpot/ --questions 500
  clew measure hotpot/
  clew measure hotpot/ --recipes dense,bm25,fused --budgets 512,2048 --intervals
  clew measure hotpot/ --recipes agrag --baseline agrag --set select.variant=sum
  clew measure hotpot/ --embedder all-MiniLM-L6-v2
  clew measure hotpot/ --own-vectors --facts none
  clew measure docs/ --gold questions.jsonl --recipes hipporag,fused,bm25
  clew measure docs.clew --generate-questions 125 --model mymodel:answer -o asked.jsonl
  clew measure docs.clew --judge --model mymodel:answer --asked asked.jsonl --recipes da_rag,dense

Recall of the passages that answer, among the best K and in contexts of N tokens, with intervals
for the differences from the baseline. --gold does it on your own documents. For each question it
takes a line {"question": "When do they sail?", "gold": [{"file": "guide.md", "quote": "at ten"}]}
whose quote is words that stand where the question is answered. --judge has a model answer from the
contexts and judge the answers, the first recipe's against each of the others', and prints calls,
tokens and seconds."""


def add_parser(commands: Commands) -> None:
    """Declare the command and its options."""
    summary = "compare recipes on questions with known answers"
    parser = add_command(commands, "measure", summary, EXAMPLES, measure)
    parser.add_argument(
        "source",
        nargs="?",
        metavar="FOLDER",
        help="corpus.jsonl, queries.jsonl and what else `--prepare` writes; for --gold, to "
        "generate questions and to judge also an index or a folder of documents",
    )
    _add_comparison_options(parser)
    _add_benchmark_options(parser)
    parser.add_argument(
        "--gold",
        type=Path,
        metavar="FILE",
        help="questions on FOLDER, or an index, each with the places that answer it; see below",
    )
    parser.add_argument(
        "--intervals", action="store_true", help="write every difference and its interval"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--prepare",
        type=Path,
        metavar="FILE",
        help="make a folder of the file that MuSiQue, HotpotQA or 2WikiMultihopQA publishes",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="the folder to make")
    parser.add_argument(
        "--questions",
        type=positive_integer,
        metavar="N",
        help="prepare N questions, drawn at random (default: all); or judge, or compare with "
        "--gold, by the first N",
    )
    _add_judging_options(parser)
    add_pattern_options(parser)


def _add_comparison_options(parser: Parser) -> None:
    """Declare what is compared, and by which figures."""
    parser.add_argument(
        "--recipes",
        type=names,
        metavar="A,B",
        help="which recipes, names or files that end in .toml (default: all)",
    )
    add_settings_option(parser)
    parser.add_argument(
        "--budgets",
        type=positive_integers,
        metavar="N,M",
        help=f"budgets in tokens (default: {','.join(map(str, BUDGETS))})",
    )
    parser.add_argument(
        "--limits",
        type=positive_integers,
        metavar="K,L",
        help=f"numbers of passages (default: {','.join(map(str, KS))}; with --gold "
        f"{','.join(map(str, QUOTE_KS))})",
    )
    parser.add_argument(
        "--baseline",
        default="dense",
        metavar="NAME",
        help="what the others are compared with (default: dense)",
    )
    parser.add_argument(
        "--model",
        metavar=models.METAVAR,
        help=f"also exact match and F1 of this model's answers: {models.HELP}",
    )
    models.add_model_options(parser)
    parser.add_argument(
        "--seed",
        type=non_negative_integer,
        default=0,
        metavar="N",
        help="of the intervals' resampling (default: 0)",
    )


def _add_judging_options(parser: Parser) -> None:
    """Declare how a model asks, answers and judges."""
    parser.add_argument(
        "--generate-questions",
        type=positive_integer,
        metavar="N",
        help="have the model ask N questions on the whole corpus, and write them to -o FILE",
    )
    parser.add_argument(
        "--judge",
        action="store_true",
        help="have the model answer from each recipe's context, and judge the answers in both "
        "orders; with the first of --budgets",
    )
    parser.add_argument(
        "--asked",
        type=Path,
        metavar="FILE",
        help='questions to judge by, a line {"question": ...} each (default: those of FOLDER)',
    )
    parser.add_argument(
        "--judge-model",
        metavar=models.METAVAR,
        help="the model that judges (default: that of --model)",
    )


def _add_benchmark_options(parser: Parser) -> None:
    """Declare how the folder is read and indexed."""
    parser.add_argument(
        "--embedder",
        metavar="NAME",
        help="a sentence-transformers model (default: the folder's vectors, else clew's own)",
    )
    parser.add_argument(
        "--own-vectors",
        action="store_true",
        help="ignore the folder's vectors: embed with clew's own default",
    )
    parser.add_argument(
        "--facts",
        choices=("any", "triples", "surface_triples", "none"),
        default="any",
        help="which of the folder's triples (default: any)",
    )
    extractors = parser.add_mutually_exclusive_group()
    extractors.add_argument(
        "--names",
        action="store_true",
        help="facts by clew.Names() instead of the folder's, and none of the folder's vectors",
    )
    extractors.add_argument(
        "--terms", action="store_true", help="the same by clew.Terms(), for text in lower case"
    )
    parser.add_argument(
        "--reports",
        action="store_true",
        help="with reports on communities, made without a model; needs --embedder or --own-vectors",
    )


@compile_first()  # what is measured is the speed of machine code
def measure(options: argparse.Namespace) -> int:
    """Print the tables for a prepared folder, or prepare one."""
    if options.prepare:
        return _prepare(options)
    if options.source is None:
        raise ValueError(
            "name a folder of questions and passages; --prepare SOURCE -o FOLDER makes one"
        )
    if options.generate_questions is not None:
        return _generate_questions(options)
    if options.output:
        raise ValueError(
            "-o belongs to --prepare and --generate-questions: the tables go to stdout"
        )
    if options.judge:
        return _judge(options)
    if options.asked is not None or options.judge_model is not None:
        raise ValueError("--asked and --judge-model belong to --judge")
    if options.gold is not None:
        return _compare_quotes(options)
    if any(patterns_of(options)):
        raise ValueError("--include and --exclude are of a folder of documents: add --gold")
    settings = index_settings(options.set)
    check_used(settings, _parts(options), options)
    figures = None
    if options.model is not None:
        figures = answer_figures(models.model_of(options.model, options))
    comparison = compare_folder(
        options.source,
        _methods(options),
        ks=options.limits or KS,
        budgets=options.budgets or BUDGETS,
        baseline=options.baseline,
        embedder=options.embedder,
        vectors=not options.own_vectors,
        facts=options.facts,
        extractor=_extractor_of(options, settings),
        generators=(configured("reports", Reports(), settings),) if options.reports else (),
        figures=figures,
        seed=options.seed,
        progress=shows_progress(),
    )
    return _print(comparison, options)


def _print(comparison: Comparison, options: argparse.Namespace) -> int:
    if options.json:
        print_json(comparison.to_dict())
    else:
        print_result(comparison.to_markdown(intervals=options.intervals).rstrip())
    return 0


def _compare_quotes(options: argparse.Namespace) -> int:
    if options.model is not None:
        raise ValueError("--model answers benchmarks and --judge; --gold compares what is read")
    questions = read_quoted_questions(options.gold)
    index, _ = _corpus(options)
    comparison = compare_quotes(
        index,
        questions[: options.questions],
        _methods(options) or recipes.names(),
        ks=options.limits or QUOTE_KS,
        budgets=options.budgets or BUDGETS,
        baseline=options.baseline,
        seed=options.seed,
        progress=shows_progress(),
    )
    return _print(comparison, options)


def _generate_questions(options: argparse.Namespace) -> int:
    if options.model is None or options.output is None:
        raise ValueError(
            "--generate-questions takes the model that asks and -o the file to write: "
            "clew measure FOLDER --generate-questions 125 --model MODULE:NAME -o FILE"
        )
    meter = ModelMeter(models.model_of(options.model, options))
    index, _ = _corpus(options)
    asked = generate_questions(
        meter.model, index.graph, options.generate_questions, progress=shows_progress()
    )
    write_questions(options.output, asked.questions)
    failed = f", {len(asked.failed)} tasks failed: {asked.failed[0][1]}" if asked.failed else ""
    use = meter.use
    print_result(
        f"{options.output}: {len(asked.questions):,} questions in {use.calls:,} calls "
        f"({use.prompt_tokens:,} + {use.completion_tokens:,} tokens, {use.seconds:.1f} s){failed}"
    )
    return 0


def _judge(options: argparse.Namespace) -> int:
    if options.model is None:
        raise ValueError("--judge takes a model that answers and judges: name one with --model")
    index, questions = _corpus(options)
    if options.asked is not None:
        questions = tuple(one.question for one in read_questions(options.asked))
    judge_model = None
    if options.judge_model is not None:
        judge_model = models.model_of(options.judge_model, options)
    result = judge_recipes(
        index,
        questions[: options.questions],
        _methods(options) or ("da_rag", options.baseline),
        models.model_of(options.model, options),
        judge_model=judge_model,
        budget=options.budgets[0] if options.budgets else DA_RAG_TOKENS,
        progress=shows_progress(),
    )
    if options.json:
        print_json(result.to_dict())
    else:
        print_result(result.to_markdown())
    return 0


def _corpus(options: argparse.Namespace) -> tuple[Index, tuple[str, ...]]:
    """Return the index of what is named, and its questions where it is a benchmark."""
    settings, patterns = index_settings(options.set), patterns_of(options)
    if is_storage(options.source):
        check_used(settings, [], options)
        _refuse_parts(options)
        if any(patterns):
            raise ValueError("--include and --exclude are of a folder of documents")
        return Index.load(options.source, embedder=options.embedder), ()
    path = existing_path(options.source)
    check_used(settings, [] if is_index(path) else _parts(options), options)
    is_benchmark = path.is_dir() and find_file(path, "corpus.jsonl") is not None
    if options.facts != "any" and not is_benchmark:
        raise ValueError(f"--facts chooses among the triples of a benchmark; {path} is none")
    if any(patterns) and (is_index(path) or is_benchmark):
        what = "a saved index" if is_index(path) else "a benchmark"
        raise ValueError(f"--include and --exclude are of a folder of documents; {path} is {what}")
    if is_index(path):
        _refuse_parts(options)
        return Index.load(path, embedder=options.embedder), ()
    extractor = _extractor_of(options, settings)
    if is_benchmark:
        own = extractor is not None or options.own_vectors
        benchmark = Benchmark.open(
            path,
            embedder=options.embedder,
            vectors=not own,
            facts="none" if extractor else options.facts,
        )
        index = benchmark.index(extractor=extractor, progress=shows_progress())
        questions = tuple(question.text for question in benchmark.questions)
    else:
        index = Index.from_documents(
            path,
            embedder=options.embedder,
            extractor=extractor or FACTS,
            splitter=Splitter(TOKENS),
            include=patterns.include,
            exclude=patterns.exclude,
        )
        questions = ()
        print_skipped(index.skipped)
    reports = [configured("reports", Reports(), settings)] if options.reports else []
    return index.generate(*reports), questions


def _parts(options: argparse.Namespace) -> list[str]:
    """The parts of the index that settings can be of."""
    return [name for name in ("names", "terms", "reports") if getattr(options, name)]


def _refuse_parts(options: argparse.Namespace) -> None:
    """Refuse parts that an index which is built already does not get."""
    if typed := _parts(options):
        raise ValueError(
            f"{options.source} is a saved index: --{typed[0]} belongs to `clew index`, which "
            "builds one"
        )


def _extractor_of(options: argparse.Namespace, settings: Sequence[str]) -> Names | Terms | None:
    if options.names:
        return configured("names", Names(), settings)
    return configured("terms", Terms(), settings) if options.terms else None


def _methods(options: argparse.Namespace) -> dict[str, Method] | tuple[()]:
    """The methods by label; the settings are of all that are named, and not of the baseline."""
    if not options.recipes:
        if recipe_settings(options.set):
            raise ValueError("--set changes recipes: name them with --recipes")
        return ()
    return {label_of(name, options.set): method_of(name, options.set) for name in options.recipes}


def _prepare(options: argparse.Namespace) -> int:
    if options.source is not None or options.output is None:
        raise ValueError(
            "--prepare takes the downloaded file and -o the folder to make: clew measure "
            "--prepare FILE -o FOLDER"
        )
    prepared = prepare(options.prepare, options.output, limit=options.questions)
    skipped = f", {prepared.skipped:,} unanswerable questions left out" if prepared.skipped else ""
    print_result(
        f"{prepared.folder}: {prepared.questions:,} questions on {prepared.passages:,} passages, "
        f"of {prepared.kind}{skipped}"
    )
    print_result(f"measure it: clew measure {prepared.folder}")
    return 0
