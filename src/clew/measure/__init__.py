"""How good are the methods? Benchmarks and methods go in, tables with intervals come out."""

from clew.measure.answers import answer_figures
from clew.measure.benchmark import Benchmark, BenchmarkQuestion
from clew.measure.compare import Comparison, compare, compare_folder
from clew.measure.judge import JudgeVerdict, answers_of, judge
from clew.measure.paired import Table, bootstrap_intervals, build_table
from clew.measure.prepare import Prepared, prepare
from clew.measure.quality import Quality, quality, quality_of

__all__ = [
    "Benchmark",
    "BenchmarkQuestion",
    "Comparison",
    "JudgeVerdict",
    "Prepared",
    "Quality",
    "Table",
    "answer_figures",
    "answers_of",
    "bootstrap_intervals",
    "build_table",
    "compare",
    "compare_folder",
    "judge",
    "prepare",
    "quality",
    "quality_of",
]
