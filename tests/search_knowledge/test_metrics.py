"""What the function counts, as CloudWatch's embedded metric format."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.calls import Context, Json, call, logger
from tests.support.records import CLAIMS, ITEM


def metrics_in(printed: str) -> list[tuple[str, float, list[Json]]]:
    """Each metric as CloudWatch would take it: name, value, and the dimensions it is filed under."""
    found = []
    for line in map(json.loads, printed.splitlines()):
        (declaration,) = line["_aws"]["CloudWatchMetrics"]
        assert declaration["Namespace"] == "test-stack"
        filed = [{name: line[name] for name in names} for names in declaration["Dimensions"]]
        found += [(metric["Name"], sum(line[metric["Name"]]), filed) for metric in declaration["Metrics"]]
    return found


def totals(printed: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for name, value, _ in metrics_in(printed):
        counted[name] += int(value)
    return counted


def test_calls_are_measured_by_shape_and_mode(metered: Handler, capfd: pytest.CaptureFixture[str]) -> None:
    call(metered, {"query": "valve", "mode": "lexical"}, authorizer=CLAIMS)
    call(metered, {"knowledge_item_id": ITEM}, authorizer=CLAIMS)
    cold, calls, latency, more_calls, more_latency = metrics_in(capfd.readouterr().out)
    service = {"service": "search_knowledge"}
    assert cold == ("ColdStart", 1.0, [service])
    assert calls == ("Calls", 1.0, [service, {**service, "shape": "search", "mode": "lexical"}])
    assert more_calls == ("Calls", 1.0, [service, {**service, "shape": "read", "mode": "none"}])
    assert latency[0] == more_latency[0] == "Latency"
    assert 0 <= latency[1] < 25_000


def test_errors_are_measured_by_code(metered: Handler, capfd: pytest.CaptureFixture[str]) -> None:
    call(metered, {}, authorizer=CLAIMS)
    found = metrics_in(capfd.readouterr().out)
    service = {"service": "search_knowledge"}
    assert ("Calls", 1.0, [service, {**service, "shape": "none", "mode": "none"}]) in found
    assert found[-1] == ("Errors", 1.0, [{"code": "knowledge_query_required", **service}])


def test_only_what_the_operator_has_to_look_into_counts_as_unavailable(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = Settings(str(tmp_path / "nowhere"), "local-small", runtime_switch="on", metrics_namespace="test-stack")
    off = Settings(str(tmp_path / "nowhere"), "local-small", runtime_switch="off", metrics_namespace="test-stack")
    for settings, unavailable in ((broken, 1), (off, 0)):
        with Handler(settings, logger()) as handler:
            assert call(handler, {"query": "x"})["type"] == "knowledge_unavailable"
        assert totals(capfd.readouterr().out) & Counter(Errors=9, CallsUnavailable=9) == Counter(
            Errors=1, CallsUnavailable=unavailable
        )


def test_a_cold_start_is_counted_once_whatever_comes_first(metered: Handler, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        metered({"no": "event"}, Context())
    assert metrics_in(capfd.readouterr().out) == [("ColdStart", 1.0, [{"service": "search_knowledge"}])]


def test_without_a_namespace_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with Handler(Settings(runtime_switch="on"), logger()) as handler:
        call(handler, {})
    assert capfd.readouterr().out == ""
