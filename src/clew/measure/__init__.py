"""How good is what is found?  A benchmark, methods -> tables with intervals"""

from clew.measure.answers import answered
from clew.measure.benchmark import Benchmark, Question
from clew.measure.compare import Comparison, command, compare
from clew.measure.judge import Verdict, answers_of, judge
from clew.measure.paired import Table, intervals, table
from clew.measure.prepare import Prepared, prepare
from clew.measure.quality import Quality, quality, quality_of

__all__ = [
    "Benchmark",
    "Comparison",
    "Prepared",
    "Quality",
    "Question",
    "Table",
    "Verdict",
    "answered",
    "answers_of",
    "command",
    "compare",
    "intervals",
    "judge",
    "prepare",
    "quality",
    "quality_of",
    "table",
]
