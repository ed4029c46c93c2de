"""The run-time switch as operators turn it: a parameter on an SSM server, read by real clients."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from threading import Event

import boto3
import pytest
from mypy_boto3_ssm import SSMClient

from local_s3.connection import REGION
from local_s3.moto_server import S3Server
from search_knowledge import switch as switches
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from search_knowledge.switch import FixedSwitch, Parameter, ParameterSwitch, switch_from
from tests.support.calls import call, error_of, logger
from tests.support.datasets import embedding

DISABLED = ("knowledge_runtime_disabled", None)
NUMBERS = itertools.count(1)


@pytest.fixture
def ssm(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> SSMClient:
    """The server's SSM, to which every client of this process is led as well."""
    for name, value in {**s3_server.environment, "AWS_ENDPOINT_URL_SSM": s3_server.endpoint}.items():
        monkeypatch.setenv(name, value)
    return boto3.client("ssm", region_name=REGION)


@pytest.fixture
def name() -> str:
    return f"/stack-{next(NUMBERS)}/switch"


@pytest.fixture
def log() -> StringIO:
    return StringIO()


@pytest.fixture
def handler(name: str, log: StringIO) -> Iterator[Handler]:
    settings = Settings(runtime_switch=f"ssm:{name}", embedding="local-small", storage_options={"region": REGION})
    with Handler(settings, logger(log), embedding()) as made:
        made.prepare()
        yield made


def turn(ssm: SSMClient, name: str, value: str) -> None:
    ssm.put_parameter(Name=name, Value=value, Type="String", Overwrite=True)


def answers(handler: Handler) -> bool:
    """Whether the tool is on: it then gets as far as the arguments."""
    error = error_of(call(handler, {}))
    assert error in {DISABLED, ("knowledge_query_required", None)}
    return error != DISABLED


def seconds_until(handler: Handler, *, on: bool) -> float:
    started = time.monotonic()
    while answers(handler) is not on:
        time.sleep(0.2)
        assert time.monotonic() - started < 15
    return time.monotonic() - started


def faults(log: StringIO) -> list[str]:
    lines = map(json.loads, log.getvalue().splitlines())
    return [line["fault"]["exceptions"][0]["type"] for line in lines if "fault" in line]


def age(switch: ParameterSwitch) -> ParameterSwitch:
    """The switch as it will be when what it knows is too old."""
    switch._requested_at -= switches.MAX_AGE_SECONDS + 1  # noqa: SLF001 - instead of waiting
    return switch


def state(switch: ParameterSwitch, seconds: float = 20) -> bool:
    return asyncio.run(switch.is_on(time.monotonic() + seconds))


@pytest.mark.slow
def test_a_flip_shows_within_ten_seconds_and_back(ssm: SSMClient, name: str, handler: Handler) -> None:
    turn(ssm, name, "on")
    assert answers(handler)
    turn(ssm, name, "off")
    assert seconds_until(handler, on=False) < 10
    turn(ssm, name, "on")
    assert seconds_until(handler, on=True) < 10


@pytest.mark.parametrize("value", ["off", "ON", " on", "on ", "true", "1", "yes"])
def test_whatever_is_not_on_is_off(ssm: SSMClient, name: str, handler: Handler, value: str) -> None:
    turn(ssm, name, value)
    assert not answers(handler)


def test_a_parameter_that_was_never_readable_disables_the_tool_and_is_reported(
    ssm: SSMClient, handler: Handler, log: StringIO
) -> None:
    assert ssm.meta.region_name == REGION
    assert not answers(handler)
    assert faults(log) == ["botocore.errorfactory.ParameterNotFound"]


@pytest.mark.parametrize("value", ["on", "off"])
def test_an_unreadable_parameter_keeps_the_last_known_state(
    ssm: SSMClient, name: str, s3_server: S3Server, value: str
) -> None:
    heard: list[Exception] = []
    switch = ParameterSwitch(Parameter(name, REGION), heard.append)
    turn(ssm, name, value)
    assert state(switch) is (value == "on")
    for trouble in (s3_server.answer_with(403), s3_server.answer_with(500), s3_server.cut_connections()):
        with trouble:
            assert state(age(switch)) is (value == "on")
    ssm.delete_parameter(Name=name)
    assert state(age(switch)) is (value == "on")
    assert [type(error).__name__ for error in heard] == [
        "ClientError",
        "ClientError",
        "ConnectionClosedError",
        "ParameterNotFound",
    ]
    turn(ssm, name, "off" if value == "on" else "on")
    assert state(age(switch)) is (value == "off")


def test_the_parameter_is_read_once_in_five_seconds(ssm: SSMClient, name: str, s3_server: S3Server) -> None:
    turn(ssm, name, "on")
    switch = ParameterSwitch(Parameter(name, REGION), lambda _error: None)
    with s3_server.record_requests() as requests:
        assert all(state(switch) for _ in range(20))
    assert len(requests) == 1
    with s3_server.record_requests() as requests:
        assert state(age(switch))
    assert len(requests) == 1


def test_a_failed_read_is_not_repeated_by_every_call(name: str, s3_server: S3Server, ssm: SSMClient) -> None:
    assert ssm.meta.region_name == REGION
    switch = ParameterSwitch(Parameter(name, REGION), lambda _error: None)
    with s3_server.record_requests() as requests:
        assert not any(state(switch) for _ in range(20))
    assert len(requests) == 1


class Slow(Parameter):
    """A parameter that answers when it is allowed to, with what it was given."""

    def __init__(self) -> None:
        super().__init__("/slow")
        self.go = Event()
        self.value = "on"

    def read(self) -> str:
        value = self.value
        self.go.wait(5)
        return value


def test_a_slow_answer_holds_up_neither_the_loop_nor_the_deadline_and_still_counts() -> None:
    slow = Slow()
    switch = ParameterSwitch(slow, lambda _error: None)

    async def scene() -> None:
        started, beats = time.monotonic(), 0
        waiting = asyncio.create_task(switch.is_on(started + 0.3))
        while not waiting.done():
            await asyncio.sleep(0.01)
            beats += 1
        assert beats > 5
        assert not waiting.result()
        assert time.monotonic() - started < 2
        slow.go.set()
        while not await switch.is_on(started + 10):  # noqa: ASYNC110 - it is asked as calls ask it
            await asyncio.sleep(0.01)

    asyncio.run(scene())


def test_no_call_waits_long_while_a_state_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "NEXT_WAIT_SECONDS", 0.1)
    slow = Slow()
    switch = ParameterSwitch(slow, lambda _error: None)
    slow.go.set()
    assert state(switch)
    slow.go.clear()

    async def scene() -> float:
        started = time.monotonic()
        assert await age(switch).is_on(started + 20)
        slow.go.set()
        return time.monotonic() - started

    assert asyncio.run(scene()) < 1


def test_a_late_answer_to_an_older_question_undoes_nothing() -> None:
    slow = Slow()
    switch = ParameterSwitch(slow, lambda _error: None)
    slow.go.set()
    switch._learn(200.0)  # noqa: SLF001 - the order of two threads cannot be asked for otherwise
    slow.value = "off"
    switch._learn(100.0)  # noqa: SLF001 - as above
    assert switch._on  # noqa: SLF001 - as above


def test_a_clock_that_was_put_back_makes_no_state_eternal(ssm: SSMClient, name: str) -> None:
    turn(ssm, name, "on")
    switch = ParameterSwitch(Parameter(name, REGION), lambda _error: None)
    assert state(switch)
    switch._requested_at += 3600  # noqa: SLF001 - what the clock's step looks like
    turn(ssm, name, "off")
    assert not state(switch)


def test_a_client_that_cannot_be_made_does_not_keep_the_function_from_loading() -> None:
    heard: list[Exception] = []
    switch = ParameterSwitch(Parameter("/x", "no region"), heard.append)
    switch.prepare()
    assert [type(error).__name__ for error in heard] == ["InvalidRegionError"]
    assert not state(switch)


def test_a_setting_names_its_switch() -> None:
    assert isinstance(switch_from("ssm:/stack/switch", print), ParameterSwitch)
    assert switch_from("on", print) == FixedSwitch(on=True)
    for setting in ("", "off", "ON", "SSM:/stack/switch"):
        assert switch_from(setting, print) == replace(FixedSwitch(on=True), on=False)
