"""What a question took, for those who watch a program: OpenTelemetry's spans and metrics, and logs.

A question is one span, and each stage a span below it, where the program has loaded OpenTelemetry's
API (`import opentelemetry.trace`); clew never loads it. The logger "clew.questions" has the same
numbers at the level DEBUG, as fields of the record (`extra`).

Nothing of documents, questions or answers is in them: numbers, and the names of stages and recipes.

Source: OpenTelemetry's API for Python, and its conventions for generative AI (`gen_ai.usage`).
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from clew.context import Context
from clew.items import Step
from clew.version import __version__

LOGGER = logging.getLogger("clew.questions")
LOGGER.propagate = True
TRACE, METRICS = "opentelemetry.trace", "opentelemetry.metrics"
PROVIDERS = {TRACE: "get_tracer_provider", METRICS: "get_meter_provider"}
NO_REPORT = "OpenTelemetry took no report"
NAME = "clew.ask"
NANOSECONDS = 10**9
Attributes = dict[str, str | bool | int | float]


def observed(work: Callable[[], Context]) -> Context:
    """Return the context that a question is answered with, and report what it took.

    Args:
        work: Answers the question. An error is reported, too, by its kind, and raised again.

    Example:
        >>> observed(lambda: Context((), "", 0, None, "Who?", "dense")).tokens
        0
    """
    if not (_takes_reports(TRACE) or _takes_reports(METRICS) or LOGGER.isEnabledFor(logging.DEBUG)):
        return work()
    began, started = time.time_ns(), time.perf_counter()
    try:
        context = work()
    except Exception as error:
        _report({"error.type": type(error).__name__}, (), began, time.perf_counter() - started)
        raise
    _report(attributes_of(context), context.trace, began, time.perf_counter() - started)
    return context


def _takes_reports(name: str) -> bool:
    """Return whether somebody has set what takes the spans, or the metrics, of a process.

    Frameworks load OpenTelemetry, and without that every report goes nowhere. The provider is
    looked at and asked for nothing: the one that stands for none keeps every meter for good.

    Args:
        name: `TRACE` or `METRICS`.
    """
    get_provider = getattr(sys.modules.get(name), PROVIDERS[name], None)
    if get_provider is None:
        return False
    try:
        provider = get_provider()
    except Exception:
        LOGGER.exception(NO_REPORT)
        return False
    return not type(provider).__name__.startswith(("Proxy", "_Proxy", "NoOp"))


def attributes_of(context: Context) -> Attributes:
    """Return a context in numbers.

    Example:
        >>> attributes_of(Context((), "", 0, 500, "Who?", "dense"))["clew.budget"]
        500
    """
    known: dict[str, str | bool | int | float | None] = {
        "clew.items": len(context),
        "clew.tokens": context.tokens,
        "clew.budget": context.budget,
        "clew.dropped": len(context.dropped),
        "clew.found": not context.nothing_found,
        "clew.relevance": context.relevance,
        "clew.gap": context.gap,
        "clew.fallbacks": sum("fallback" in step.notes for step in context.trace),
    }
    if context.usage:
        usage = context.usage
        known |= {
            "gen_ai.usage.input_tokens": usage.prompt_tokens,
            "gen_ai.usage.output_tokens": usage.completion_tokens,
            "clew.model.calls": usage.calls,
            "clew.model.failed": usage.failed,
            "clew.model.remembered": usage.remembered,
        }
    return {name: value for name, value in known.items() if value is not None}


def stage_name(step: Step) -> str:
    """Return the name of a stage without its parameters.

    Example:
        >>> stage_name(Step("Top(k=10)", 0.1))
        'Top'
    """
    return step.stage.partition("(")[0]


def _report(attributes: Attributes, trace: tuple[Step, ...], began: int, seconds: float) -> None:
    """Report to whatever watches; what fails there is no failure of the question."""
    try:
        if _takes_reports(TRACE):
            _add_spans(sys.modules[TRACE], attributes, trace, began, seconds)
        if _takes_reports(METRICS):
            _add_metrics(sys.modules[METRICS], attributes, seconds)
    except Exception:
        LOGGER.exception(NO_REPORT)
    fields = {name.replace(".", "_"): value for name, value in attributes.items()}
    LOGGER.debug("answered in %.3f s", seconds, extra={**fields, "clew_seconds": seconds})


def _add_spans(
    api: Any,  # noqa: ANN401  # a module that need not be installed
    attributes: Attributes,
    trace: tuple[Step, ...],
    began: int,
    seconds: float,
) -> None:
    """Add a span for the question, and one for each stage, in a row that ends with the question."""
    tracer = api.get_tracer_provider().get_tracer("clew", __version__)
    ended = began + round(seconds * NANOSECONDS)
    span = tracer.start_span(NAME, start_time=began, attributes=attributes)
    if "error.type" in attributes:
        span.set_status(api.Status(api.StatusCode.ERROR))
    inside = api.set_span_in_context(span)
    start = ended - round(sum(step.seconds for step in trace) * NANOSECONDS)
    for step in trace:
        end = start + round(step.seconds * NANOSECONDS)
        notes = _numbers_in(step.notes)
        tracer.start_span(stage_name(step), inside, start_time=start, attributes=notes).end(end)
        start = end
    span.end(ended)


def _numbers_in(notes: Mapping[str, Any]) -> Attributes:
    """Return the numbers among the notes of a stage; names and texts may be the documents'."""
    return {
        f"clew.{name}": value.item() if hasattr(value, "item") else value
        for name, value in notes.items()
        if isinstance(value, (bool, int, float)) or getattr(value, "shape", None) == ()
    }


def _add_metrics(api: Any, attributes: Attributes, seconds: float) -> None:  # noqa: ANN401  # as above
    meter = api.get_meter_provider().get_meter("clew", __version__)
    kind = {"clew.found": attributes.get("clew.found", False)}
    if "error.type" in attributes:
        kind = {"error.type": attributes["error.type"]}
    meter.create_histogram("clew.question.duration", "s", "of a question").record(seconds, kind)
    for name in ("clew.tokens", "clew.items"):
        if name in attributes:
            unit = name.removeprefix("clew.")
            histogram = meter.create_histogram(
                f"clew.context.{unit}", f"{{{unit}}}", "of a context"
            )
            histogram.record(attributes[name])
    for direction in ("input", "output"):
        if (tokens := attributes.get(f"gen_ai.usage.{direction}_tokens")) is not None:
            counter = meter.create_counter("clew.model.tokens", "{token}", "of language models")
            counter.add(tokens, {"gen_ai.token.type": direction})
