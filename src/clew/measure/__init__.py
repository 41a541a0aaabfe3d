"""How good is what is found?  A benchmark, methods -> tables with intervals"""

from clew.measure.answers import answer_figures
from clew.measure.benchmark import Benchmark, BenchmarkQuestion
from clew.measure.compare import Comparison, compare, compare_folder
from clew.measure.judge import JudgeVerdict, answers_of, judge
from clew.measure.paired import Table, intervals, table
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
    "compare",
    "compare_folder",
    "intervals",
    "judge",
    "prepare",
    "quality",
    "quality_of",
    "table",
]
