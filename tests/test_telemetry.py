"""Spans, metrics and logs of questions, by OpenTelemetry's own SDK: numbers, and nothing of the documents."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import subprocess
import sys

import pytest

import clew

SECRET = "Grimaldi"
DOCUMENTS = [f"Anna {SECRET} married Ben Okri.", "Ben Okri lives on Corfu.", "Oars are of ash."]


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(DOCUMENTS, extractor=clew.Names(min_passages=1))


@pytest.fixture
def spans(monkeypatch):
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


def test_a_question_is_a_span_and_its_stages_are_below_it(index, spans):
    context = index.ask(f"Where does the husband of Anna {SECRET} live?", budget=200)
    *stages, whole = spans.get_finished_spans()
    assert whole.name == "clew.ask"
    assert [stage.name for stage in stages] == [
        step.stage.partition("(")[0] for step in context.trace
    ]
    assert {stage.parent.span_id for stage in stages} == {whole.context.span_id}
    assert whole.attributes["clew.items"] == len(context)
    assert (
        whole.attributes["clew.tokens"] == context.tokens <= whole.attributes["clew.budget"] == 200
    )
    for before, after in itertools.pairwise(stages):
        assert whole.start_time <= before.start_time <= before.end_time == after.start_time
    assert stages[-1].end_time <= whole.end_time + len(stages)  # each is rounded to a nanosecond


def test_nothing_of_documents_and_questions_is_in_a_span(index, spans):
    for recipe in clew.recipes.names():
        index.ask(f"Where does the husband of Anna {SECRET} live?", recipe=recipe, budget=200)
    written = json.dumps(
        [[span.name, dict(span.attributes or {})] for span in spans.get_finished_spans()]
    )
    for word in (SECRET, "Anna", "Ben", "Corfu", "husband", "text-1"):
        assert word not in written


def test_a_question_asked_inside_a_span_is_below_it_and_so_without_blocking(index, spans):
    from opentelemetry import trace

    with trace.get_tracer("app").start_as_current_span("request"):
        asyncio.run(index.aask("Who lives on Corfu?"))
        clew.narrow("Who lives on Corfu?", DOCUMENTS)
    finished = spans.get_finished_spans()
    (request,) = [span for span in finished if span.name == "request"]
    asked = [span for span in finished if span.name == "clew.ask"]
    assert [span.parent.span_id for span in asked] == [request.context.span_id] * 2


def test_an_error_is_a_span_with_its_kind(index, spans):
    with pytest.raises(clew.BudgetError):
        index.ask("Who lives on Corfu?", budget=1)
    (span,) = [span for span in spans.get_finished_spans() if span.name == "clew.ask"]
    assert span.attributes["error.type"] == "BudgetError"
    assert not span.status.is_ok


def test_metrics_count_questions_and_the_tokens_of_models(index, monkeypatch):
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter_provider", lambda: provider)
    contexts = [index.ask("Who lives on Corfu?"), index.ask("Who married Ben?")]
    (resource,) = reader.get_metrics_data().resource_metrics
    (scope,) = resource.scope_metrics
    points = {one.name: one.data.data_points for one in scope.metrics}
    assert sum(point.count for point in points["clew.question.duration"]) == 2
    assert sum(point.sum for point in points["clew.context.tokens"]) == sum(
        context.tokens for context in contexts
    )


def test_what_fails_in_a_tracer_is_no_failure_of_a_question(index, spans, monkeypatch, caplog):
    from opentelemetry import trace

    def broken(*_):
        raise OSError("collector is gone")

    monkeypatch.setattr(trace.get_tracer_provider(), "get_tracer", broken)
    assert index.ask("Who lives on Corfu?").items
    assert "took no report" in caplog.text


def test_without_a_provider_nothing_is_reckoned_for_a_report(index, monkeypatch):
    trace = pytest.importorskip("opentelemetry.trace")
    assert "Proxy" in type(trace.get_tracer("app")).__name__, "no test sets a provider for all"
    reports = []
    monkeypatch.setattr(clew.telemetry, "_report", lambda *report: reports.append(report))
    assert index.ask("Who lives on Corfu?").items
    assert not reports


def test_questions_leave_no_meter_behind_where_nobody_takes_metrics(index, spans, monkeypatch):
    metrics = pytest.importorskip("opentelemetry.metrics")
    nobody, asked_for = metrics.get_meter_provider(), []
    assert "Proxy" in type(nobody).__name__, "it keeps every meter that it was asked for"
    monkeypatch.setattr(nobody, "get_meter", lambda *meter, **_: asked_for.append(meter))
    assert index.ask("Who lives on Corfu?").items
    assert spans.get_finished_spans()
    assert not asked_for


def test_the_log_has_the_numbers_as_fields(index, caplog):
    with caplog.at_level(logging.DEBUG, "clew.questions"):
        context = index.ask("Who lives on Corfu?")
    record = next(one for one in caplog.records if one.name == "clew.questions")
    assert record.clew_tokens == context.tokens
    assert record.clew_seconds > 0
    assert "Corfu" not in record.getMessage()


def test_clew_loads_no_opentelemetry_by_itself():
    program = (
        "import sys, clew; clew.Index.from_documents(['Oars are of ash.']).ask('oars?');"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
