"""What the template watches and adds up is what the function writes, by name."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any, Final

import pytest

from search_knowledge import metrics
from search_knowledge.call_log import CallLog, CallRecord
from search_knowledge.tool_definition import NAME
from tests.architecture.source import ROOT
from tests.support.calls import logger
from tests.support.template import Stack, raw_template

STACK: Final = Stack(Issuer="https://issuer.example.com")
NAMESPACE: Final = STACK.environment("SearchKnowledgeFunction")["POWERTOOLS_METRICS_NAMESPACE"]
OURS: Final = {metrics.CALLS, metrics.LATENCY, metrics.ERRORS, metrics.UNAVAILABLE, metrics.COLD_START}
FILTERED: Final = {"DoorFaults"}
"""Metrics that CloudWatch makes of the authorizer's log."""


def properties(name: str) -> dict[str, Any]:
    found: dict[str, Any] = STACK.resolve(raw_template()["Resources"][name]["Properties"])
    return found


def widgets() -> list[dict[str, Any]]:
    return [one["properties"] for one in json.loads(properties("Dashboard")["DashboardBody"])["widgets"]]


def lines() -> dict[str, dict[str, Any]]:
    """What one answered call writes, by message."""
    stream = StringIO()
    record = CallRecord("r", NAME, "c", "client", "free", "search", "hybrid", duration_ms=1)
    CallLog(logger(stream)).record_call(record)
    return {line["message"]: line for line in map(json.loads, stream.getvalue().splitlines())}


def dimensions_of(capfd: pytest.CaptureFixture[str]) -> dict[str, set[frozenset[str]]]:
    """The dimensions under which each metric is written."""
    written = metrics.Metrics(NAMESPACE, NAME)
    written.call("search", "hybrid", 1)
    written.error("code")
    written.unavailable()
    written.cold_start()
    found: dict[str, set[frozenset[str]]] = {}
    for line in map(json.loads, capfd.readouterr().out.splitlines()):
        (declaration,) = line["_aws"]["CloudWatchMetrics"]
        for metric in declaration["Metrics"]:
            found[metric["Name"]] = {frozenset(names) for names in declaration["Dimensions"]}
    return found


def test_metrics_are_filed_under_the_stack_and_the_service_that_the_code_names() -> None:
    variables = STACK.environment("SearchKnowledgeFunction")
    assert variables["POWERTOOLS_SERVICE_NAME"] == NAME
    assert STACK.resolve({"Ref": "AWS::StackName"}) == NAMESPACE


def test_each_metric_that_is_watched_is_written_with_just_these_dimensions(capfd: pytest.CaptureFixture[str]) -> None:
    known = dimensions_of(capfd)
    assert set(known) == OURS
    alarm = properties("UnavailableAlarm")
    assert frozenset(one["Name"] for one in alarm["Dimensions"]) in known[alarm["MetricName"]]
    assert [one["Value"] for one in alarm["Dimensions"]] == [NAME]
    shown = json.dumps(widgets()).replace('\\"', '"')
    searches = re.findall(r"SEARCH\('\{\"(.+?)\",([\w,]+)\} MetricName=\"(\w+)\"'", shown)
    assert len(searches) == 2
    for namespace, dimensions, name in searches:
        assert namespace == NAMESPACE
        assert frozenset(dimensions.split(",")) in known[name]
    for row in [row for one in widgets() for row in one.get("metrics", []) if row[0] == NAMESPACE]:
        assert row[2:4] == ["service", NAME]
        assert frozenset({"service"}) in known[row[1]]


def test_each_field_that_is_added_up_is_in_the_records() -> None:
    record = lines()["usage"]["usage"]
    queries = [properties("UnitsByCaller")["QueryString"]]
    queries += [one["query"] for one in widgets() if "'usage'" in one.get("query", "")]
    assert len(queries) == 2
    for query in queries:
        assert re.search("""filter message = ["']usage["']""", query)
        assert set(re.findall(r"usage\.(\w+)", query)) <= set(record)
        assert "sum(usage.units)" in query


def test_the_page_for_operators_lists_every_metric_and_message() -> None:
    text = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
    section = text.partition("## What the function logs")[2].partition("\n## ")[0]
    stated = set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))
    assert stated == OURS | {"fault"} | set(lines())


def test_every_metric_filter_has_an_alarm() -> None:
    resources = raw_template()["Resources"]
    made = {
        one["MetricName"]
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Logs::MetricFilter"
        for one in properties(name)["MetricTransformations"]
    }
    assert made == FILTERED
    alarms = {
        properties(name)["MetricName"] for name, resource in resources.items() if resource["Type"].endswith("::Alarm")
    }
    assert made <= alarms
