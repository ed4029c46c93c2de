"""What the function tells its operator: one usage record for each unit, metrics, and no word of anybody's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import NoReturn

import pytest

from knowledge.claims import ClaimNames
from knowledge.errors import InternalError, KnowledgeError, StorageUnavailableError
from search_knowledge.app import Handler
from search_knowledge.call_log import BROKEN, CallLog, caller_key, cause_of
from search_knowledge.gateway import claims_of
from search_knowledge.http_messages import HttpRequest
from search_knowledge.mcp_server import ProtocolServer
from search_knowledge.metrics import Metrics
from search_knowledge.settings import Settings
from search_knowledge.switch import FixedSwitch
from search_knowledge.tool import Access, CallContext, Knowledge, KnowledgeTool
from tests.support.datasets import ANA as OWNER
from tests.support.datasets import build, item
from tests.support.front_door import ANA, Context, Json, call, http_event, logger, rest_event, stateless, tool_call

CANARY = "kanarienvogel"
CLAIMS: Json = {**ANA, "client_id": "desk-client", "tier": "pro"}
ITEM = item(OWNER, "notes", "pump.md")


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("records")
    return build(str(folder / "data"), {(OWNER, "notes"): {"pump.md": f"Open the valve of the {CANARY} pump."}}).uri


@pytest.fixture
def log() -> StringIO:
    return StringIO()


@pytest.fixture
def handler(uri: str, log: StringIO) -> Iterator[Handler]:
    settings = Settings(uri=uri, embedding="local-small", runtime_switch="on", metrics_namespace="test-stack")
    with Handler(settings, logger(log)) as made:
        yield made


def records(log: StringIO, kind: str) -> list[Json]:
    return [line[kind] for line in map(json.loads, log.getvalue().splitlines()) if line["message"] == kind]


def measured(printed: str) -> list[tuple[str, float, list[Json]]]:
    """Each metric as CloudWatch would take it: name, value, and the dimensions it is filed under."""
    found = []
    for line in map(json.loads, printed.splitlines()):
        (about,) = line["_aws"]["CloudWatchMetrics"]
        assert about["Namespace"] == "test-stack"
        filed = [{name: line[name] for name in names} for names in about["Dimensions"]]
        found += [(metric["Name"], sum(line[metric["Name"]]), filed) for metric in about["Metrics"]]
    return found


def totals(printed: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for name, value, _ in measured(printed):
        counted[name] += int(value)
    return counted


def test_every_answer_is_one_unit_and_its_record_says_whose(handler: Handler, log: StringIO) -> None:
    asked: list[tuple[Json, str, str]] = [
        ({"query": "valve"}, "search", "hybrid"),
        ({"query": "valve", "mode": "RRF "}, "search", "rrf"),
        ({"query": "zzz", "mode": "lexical"}, "search", "lexical"),
        ({"knowledge_item_id": ITEM}, "read", ""),
        ({"knowledge_item_id": ITEM, "offset": 9999}, "read", ""),
    ]
    for arguments, _, _ in asked:
        assert call(handler, arguments, authorizer=CLAIMS)["type"] in {"knowledge", "knowledge_search"}
    assert records(log, "usage") == [
        {
            "request_id": "lambda-request",
            "caller": caller_key("ana"),
            "client": "desk-client",
            "tier": "pro",
            "tool": "search_knowledge",
            "shape": shape,
            "mode": mode,
            "units": 1,
        }
        for _, shape, mode in asked
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "valve", "max_results": 0},
        {"query": "valve", "knowledge_item_id": ITEM},
        {"knowledge_revision_id": "kr_x"},
        {"knowledge_item_id": "ki_missing"},
        {"query": "valve", "knowledge_base_id": "missing"},
        {"team": "support"},
    ],
)
def test_an_error_is_no_unit(handler: Handler, log: StringIO, arguments: Json) -> None:
    assert call(handler, arguments, authorizer=CLAIMS)["type"] == "knowledge_error"
    assert (len(records(log, "usage")), len(records(log, "call"))) == (0, 1)


def test_what_is_no_call_of_the_tool_is_neither_a_call_nor_a_unit(handler: Handler, log: StringIO) -> None:
    listing: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    messages: list[object] = [listing, tool_call({}, name="other"), "{", []]
    for message in messages:
        handler(rest_event(message, authorizer=CLAIMS), Context())
    assert log.getvalue() == ""


def test_in_both_eras_and_through_both_gateways_a_call_is_one_unit(handler: Handler, log: StringIO) -> None:
    message, headers = stateless(tool_call({"query": "valve"}))
    handler(http_event(message, headers=headers, authorizer={"lambda": CLAIMS}), Context())
    handler(rest_event(tool_call({"query": "valve"}), authorizer=CLAIMS), Context())
    first, second = records(log, "usage")
    assert first == second


def test_a_caller_whose_token_names_no_client_or_tier_is_metered_as_well(handler: Handler, log: StringIO) -> None:
    call(handler, {"query": "valve"}, authorizer=ANA)
    (usage,) = records(log, "usage")
    assert (usage["client"], usage["tier"], usage["units"]) == ("", "free", 1)


def test_a_client_that_names_itself_at_length_is_cut(handler: Handler, log: StringIO) -> None:
    call(handler, {"query": "valve"}, authorizer={**CLAIMS, "client_id": "c" * 5000, "tier": "t" * 5000})
    (usage,) = records(log, "usage")
    assert (len(usage["client"]), len(usage["tier"])) == (128, 128)


def test_calls_are_measured_by_shape_and_mode(handler: Handler, capfd: pytest.CaptureFixture[str]) -> None:
    call(handler, {"query": "valve", "mode": "lexical"}, authorizer=CLAIMS)
    call(handler, {"knowledge_item_id": ITEM}, authorizer=CLAIMS)
    cold, calls, latency, more_calls, more_latency = measured(capfd.readouterr().out)
    service = {"service": "search_knowledge"}
    assert cold == ("ColdStart", 1.0, [service])
    assert calls == ("Calls", 1.0, [service, {**service, "shape": "search", "mode": "lexical"}])
    assert more_calls == ("Calls", 1.0, [service, {**service, "shape": "read", "mode": "none"}])
    assert latency[0] == more_latency[0] == "Latency"
    assert 0 <= latency[1] < 25_000


def test_errors_are_measured_by_code(handler: Handler, capfd: pytest.CaptureFixture[str]) -> None:
    call(handler, {}, authorizer=CLAIMS)
    found = measured(capfd.readouterr().out)
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


def test_a_cold_start_is_counted_once_whatever_comes_first(handler: Handler, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        handler({"no": "event"}, Context())
    assert measured(capfd.readouterr().out) == [("ColdStart", 1.0, [{"service": "search_knowledge"}])]


def test_without_a_namespace_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with Handler(Settings(runtime_switch="on"), logger()) as handler:
        call(handler, {})
    assert capfd.readouterr().out == ""


def printed_by(knowledge: Callable[[], Knowledge], capfd: pytest.CaptureFixture[str]) -> tuple[list[Json], str]:
    """All lines that one call leaves whose heart is composed by `knowledge`: those of the log, and all as text."""
    stream = StringIO()
    call_log = CallLog(logger(stream), Metrics("test-stack", "search_knowledge"))
    tool = KnowledgeTool(knowledge, FixedSwitch(on=True), Access(ClaimNames(), "knowledge:read"), call_log)
    claims = claims_of({**ANA, "sub": CANARY, "teams": f'["{CANARY}"]'})
    body = json.dumps(tool_call({"query": CANARY, "knowledge_base_id": CANARY})).encode()
    with ProtocolServer(tool, listed=True) as server:
        request = HttpRequest("POST", (("content-type", "application/json"),), body, claims, "r1")
        server.answer(request, CallContext(claims, "r1", 1e12))
    captured = capfd.readouterr()
    text = stream.getvalue()
    return list(map(json.loads, text.splitlines())), text + captured.out + captured.err


def test_no_word_of_a_query_an_answer_an_id_or_a_claim_is_left_anywhere(
    handler: Handler, log: StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    claims = {**CLAIMS, "teams": f'["{CANARY}"]', "email": CANARY, "jti": CANARY}
    handler(rest_event(tool_call({"query": CANARY}), authorizer=claims), Context())
    handler(rest_event(tool_call({"knowledge_item_id": ITEM}), authorizer=claims), Context())
    handler(rest_event(tool_call({"knowledge_item_id": CANARY}), authorizer=claims), Context())
    handler(rest_event(tool_call({"query": "x", "mode": CANARY}), authorizer={**claims, "sub": CANARY}), Context())
    handler(rest_event(tool_call({CANARY: CANARY}), authorizer=claims, path=f"/{CANARY}"), Context())
    captured = capfd.readouterr()
    assert len(records(log, "usage")) == 3
    assert CANARY not in log.getvalue() + captured.out + captured.err


@pytest.mark.parametrize("kind", [ValueError, KeyError, OSError, UnicodeError])
def test_no_word_of_an_exception_is_left_anywhere(kind: type[Exception], capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> NoReturn:
        raise RuntimeError(CANARY) from kind(f"while asking for {CANARY}")

    def out_of_reach() -> NoReturn:
        raise StorageUnavailableError from kind(f"while asking for {CANARY}")

    lines, text = printed_by(broken, capfd)
    assert CANARY not in text
    assert [line["message"] for line in lines] == ["fault", "call"]
    lines, text = printed_by(out_of_reach, capfd)
    assert CANARY not in text
    (line,) = lines
    assert line["call"]["cause"] == f"builtins.{kind.__name__}"


def test_the_cause_told_is_the_first_one() -> None:
    deep = StorageUnavailableError()
    deep.__cause__ = RuntimeError()
    deep.__cause__.__context__ = ConnectionRefusedError()
    assert cause_of(deep) == "builtins.ConnectionRefusedError"
    assert cause_of(StorageUnavailableError()) == ""


def test_the_outcomes_to_look_into_are_the_unavailable_ones_and_the_unforeseen() -> None:
    kinds = KnowledgeError.__subclasses__()
    unavailable = {kind.code for kind in kinds if kind.envelope == "knowledge_unavailable"}
    assert (unavailable - {"knowledge_runtime_disabled"}) | {InternalError.code} == BROKEN
