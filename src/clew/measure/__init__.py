"""How good are the methods? Benchmarks and methods go in, tables with intervals come out."""

from clew.measure.answers import answer_figures
from clew.measure.benchmark import Benchmark, BenchmarkQuestion
from clew.measure.compare import Comparison, compare, compare_folder
from clew.measure.head_to_head import HeadToHead, RecipeCosts, judge_recipes
from clew.measure.judge import JudgeVerdict, answers_of, judge
from clew.measure.paired import Table, bootstrap_intervals, build_table
from clew.measure.prepare import Prepared, prepare
from clew.measure.quality import Quality, quality, quality_of
from clew.measure.questions import (
    AskedQuestion,
    QuestionSet,
    generate_questions,
    read_questions,
    write_questions,
)
from clew.measure.quotes import Place, QuotedQuestion, compare_quotes, read_quoted_questions
from clew.measure.usage import ModelMeter, ModelUse

__all__ = [
    "AskedQuestion",
    "Benchmark",
    "BenchmarkQuestion",
    "Comparison",
    "HeadToHead",
    "JudgeVerdict",
    "ModelMeter",
    "ModelUse",
    "Place",
    "Prepared",
    "Quality",
    "QuestionSet",
    "QuotedQuestion",
    "RecipeCosts",
    "Table",
    "answer_figures",
    "answers_of",
    "bootstrap_intervals",
    "build_table",
    "compare",
    "compare_folder",
    "compare_quotes",
    "generate_questions",
    "judge",
    "judge_recipes",
    "prepare",
    "quality",
    "quality_of",
    "read_questions",
    "read_quoted_questions",
    "write_questions",
]
