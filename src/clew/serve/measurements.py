"""What a server measures of itself, as Prometheus reads it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from clew.serve.served_index import ServedIndex
from clew.serve.work_queue import QueueFullError, WorkQueue

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Measurements:
    """Counts questions, errors, refusals and seconds; see `/metrics`.

    Args:
        served: The index.
        questions: The queue that questions wait in.
    """

    def __init__(self, served: ServedIndex, questions: WorkQueue) -> None:
        registry = self._registry = CollectorRegistry()
        self._questions = Counter(
            "clew_questions", "Questions that were looked up.", ["route"], registry=registry
        )
        self._errors = Counter(
            "clew_errors",
            "Questions that ended in an error, also in one of the language model.",
            ["route"],
            registry=registry,
        )
        self._refused = Counter(
            "clew_refused", "Questions that were refused, as too many waited.", registry=registry
        )
        self._seconds = Histogram(
            "clew_question_seconds",
            "Seconds from a question to its context, with the wait.",
            registry=registry,
            buckets=SECONDS,
        )
        gauges = {
            "waiting": ("Questions that wait.", lambda: questions.waiting),
            "running": ("Questions that are being answered.", lambda: questions.running),
            "documents": ("Documents in the index.", lambda: len(served.index)),
            "passages": (
                "Passages in the index.",
                lambda: len(served.index.graph.rows("passage")),
            ),
            "changes": ("Changes of the index since the start.", lambda: served.changes),
        }
        for name, (text, value) in gauges.items():
            Gauge(f"clew_{name}", text, registry=registry).set_function(value)

    @contextmanager
    def question(self, route: str) -> Iterator[None]:
        """Measure a question from here to the end of the block."""
        begin = time.perf_counter()
        try:
            yield
        except QueueFullError:
            self._refused.inc()
            raise
        except BaseException:
            self._errors.labels(route).inc()
            raise
        self._questions.labels(route).inc()
        self._seconds.observe(time.perf_counter() - begin)

    @contextmanager
    def answer(self, route: str) -> Iterator[None]:
        """Measure the answer of a language model from here to the end of the block.

        A reader who goes before the end is no error.
        """
        try:
            yield
        except QueueFullError:
            self._refused.inc()
            raise
        except Exception:
            self._errors.labels(route).inc()
            raise

    def text(self) -> bytes:
        """Return all of it in the text format of Prometheus."""
        return generate_latest(self._registry)
