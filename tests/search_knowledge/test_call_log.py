"""What the function tells its operator: one usage record for each unit, metrics, and no word of anybody's."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
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
from search_knowledge.switch import FixedSwitch
from search_knowledge.tool import Access, CallContext, Knowledge, KnowledgeTool
from tests.support.calls import ANA, Context, Json, call, http_event, logger, rest_event, stateless, tool_call
from tests.support.records import CANARY, CLAIMS, ITEM, read_records


def test_every_answer_is_one_unit_and_its_record_says_whose(metered: Handler, log: StringIO) -> None:
    asked: list[tuple[Json, str, str]] = [
        ({"query": "valve"}, "search", "hybrid"),
        ({"query": "valve", "mode": "RRF "}, "search", "rrf"),
        ({"query": "zzz", "mode": "lexical"}, "search", "lexical"),
        ({"knowledge_item_id": ITEM}, "read", ""),
        ({"knowledge_item_id": ITEM, "offset": 9999}, "read", ""),
    ]
    for arguments, _, _ in asked:
        assert call(metered, arguments, authorizer=CLAIMS)["type"] in {"knowledge", "knowledge_search"}
    assert read_records(log, "usage") == [
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
def test_an_error_is_no_unit(metered: Handler, log: StringIO, arguments: Json) -> None:
    assert call(metered, arguments, authorizer=CLAIMS)["type"] == "knowledge_error"
    assert (len(read_records(log, "usage")), len(read_records(log, "call"))) == (0, 1)


def test_what_is_no_call_of_the_tool_is_neither_a_call_nor_a_unit(metered: Handler, log: StringIO) -> None:
    listing: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    messages: list[object] = [listing, tool_call({}, name="other"), "{", []]
    for message in messages:
        metered(rest_event(message, authorizer=CLAIMS), Context())
    assert log.getvalue() == ""


def test_in_both_eras_and_through_both_gateways_a_call_is_one_unit(metered: Handler, log: StringIO) -> None:
    message, headers = stateless(tool_call({"query": "valve"}))
    metered(http_event(message, headers=headers, authorizer={"lambda": CLAIMS}), Context())
    metered(rest_event(tool_call({"query": "valve"}), authorizer=CLAIMS), Context())
    first, second = read_records(log, "usage")
    assert first == second


def test_a_caller_whose_token_names_no_client_or_tier_is_metered_as_well(metered: Handler, log: StringIO) -> None:
    call(metered, {"query": "valve"}, authorizer=ANA)
    (usage,) = read_records(log, "usage")
    assert (usage["client"], usage["tier"], usage["units"]) == ("", "free", 1)


def test_a_client_that_names_itself_at_length_is_cut(metered: Handler, log: StringIO) -> None:
    call(metered, {"query": "valve"}, authorizer={**CLAIMS, "client_id": "c" * 5000, "tier": "t" * 5000})
    (usage,) = read_records(log, "usage")
    assert (len(usage["client"]), len(usage["tier"])) == (128, 128)


def printed_by(knowledge: Callable[[], Knowledge], capfd: pytest.CaptureFixture[str]) -> tuple[list[Json], str]:
    """All lines of one call whose core library is composed by `knowledge`: those of the log, and all as text."""
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
    metered: Handler, log: StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    claims = {**CLAIMS, "teams": f'["{CANARY}"]', "email": CANARY, "jti": CANARY}
    metered(rest_event(tool_call({"query": CANARY}), authorizer=claims), Context())
    metered(rest_event(tool_call({"knowledge_item_id": ITEM}), authorizer=claims), Context())
    metered(rest_event(tool_call({"knowledge_item_id": CANARY}), authorizer=claims), Context())
    metered(rest_event(tool_call({"query": "x", "mode": CANARY}), authorizer={**claims, "sub": CANARY}), Context())
    metered(rest_event(tool_call({CANARY: CANARY}), authorizer=claims, path=f"/{CANARY}"), Context())
    captured = capfd.readouterr()
    assert len(read_records(log, "usage")) == 3
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


def test_the_cause_logged_is_the_first_one() -> None:
    deep = StorageUnavailableError()
    deep.__cause__ = RuntimeError()
    deep.__cause__.__context__ = ConnectionRefusedError()
    assert cause_of(deep) == "builtins.ConnectionRefusedError"
    assert cause_of(StorageUnavailableError()) == ""


def test_the_outcomes_to_look_into_are_the_unavailable_ones_and_the_unforeseen() -> None:
    kinds = KnowledgeError.__subclasses__()
    unavailable = {kind.code for kind in kinds if kind.envelope == "knowledge_unavailable"}
    assert (unavailable - {"knowledge_runtime_disabled"}) | {InternalError.code} == BROKEN
