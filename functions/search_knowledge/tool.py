"""The tool itself: from arguments and claims to one of the four envelopes.

Nothing here knows the protocol or the gateway. The order of the checks is part of the contract: switch, caller,
arguments, shape, resource.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from knowledge.claims import AmbiguousClaimError, ClaimNames, read_caller
from knowledge.errors import (
    InternalError,
    KnowledgeError,
    RuntimeDisabledError,
    ScopeRequiredError,
    StorageUnavailableError,
)
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Caller, Scope, authorized_scopes
from search_knowledge.arguments import parse
from search_knowledge.call_log import BROKEN, CallLog, CallRecord, caller_key, cause_of
from search_knowledge.http_messages import Claims
from search_knowledge.switch import Switch
from search_knowledge.tool_definition import NAME


class Knowledge(Protocol):
    """What the tool needs from the core library."""

    async def search(self, scopes: Sequence[Scope], request: SearchRequest) -> SearchAnswer:
        """Ranked search over the scopes."""

    async def read(self, scopes: Sequence[Scope], request: ReadRequest) -> ReadAnswer:
        """One window of one item."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call brings besides its arguments. `deadline` is on the clock of `time.monotonic`, in seconds."""

    claims: Claims
    request_id: str
    deadline: float


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An envelope and the same as compact JSON."""

    envelope: Mapping[str, Any]
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Access:
    """How callers are identified, and the permission that they need."""

    claim_names: ClaimNames
    required_scope: str


class KnowledgeTool:
    """Answers calls. `knowledge` is called for each one, so that a fault in building it becomes that call's answer."""

    def __init__(self, knowledge: Callable[[], Knowledge], switch: Switch, access: Access, call_log: CallLog) -> None:
        self._knowledge = knowledge
        self._switch = switch
        self._access = access
        self._call_log = call_log

    async def call(self, arguments: Mapping[str, object], context: CallContext) -> ToolResult:
        """One call, one envelope; raises nothing but cancellation."""
        started = time.monotonic()
        record = CallRecord(context.request_id, NAME)
        try:
            result = await self._answer(arguments, context, record)
        except KnowledgeError as error:
            result = _fail(record, error)
        except Exception as error:  # noqa: BLE001 - outermost: the SDK would send the exception's text
            self._call_log.record_fault(error, context.request_id)
            result = _fail(record, InternalError(context.request_id))
        record.duration_ms = round(1000 * (time.monotonic() - started))
        self._call_log.record_call(record)
        return result

    async def _answer(self, arguments: Mapping[str, object], context: CallContext, record: CallRecord) -> ToolResult:
        if not await self._switch.is_on(context.deadline):
            raise RuntimeDisabledError
        caller = resolve_caller(context.claims, self._access.claim_names)
        record.caller, record.client, record.tier = caller_key(caller.owner_id), caller.client_id, caller.tier
        scopes = authorized_scopes(caller, self._access.required_scope)
        request = parse(arguments)
        record.shape = "read" if isinstance(request, ReadRequest) else "search"
        record.mode = request.mode if isinstance(request, SearchRequest) else ""
        answer = await self._answer_in_time(scopes, request, context.deadline)
        return _result(answer.as_dict(), is_error=False)

    async def _answer_in_time(
        self, scopes: Sequence[Scope], request: SearchRequest | ReadRequest, deadline: float
    ) -> SearchAnswer | ReadAnswer:
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                knowledge = self._knowledge()
                if isinstance(request, ReadRequest):
                    return await knowledge.read(scopes, request)
                return await knowledge.search(scopes, request)
        except TimeoutError:
            raise StorageUnavailableError("The knowledge store did not answer in time. Try again shortly.") from None


def resolve_caller(claims: Claims, names: ClaimNames) -> Caller:
    """The caller named by verified claims. Raises `ScopeRequiredError` for no owner and for ambiguous claims."""
    try:
        found = read_caller(claims.values, names, claims.form)
    except AmbiguousClaimError as error:
        raise ScopeRequiredError(str(error)) from None
    if not found.owner:
        raise ScopeRequiredError(f"No verified caller: the token names no owner in the claim {names.owner}.")
    return Caller(found.owner, found.teams, found.permissions, found.client, found.tier)


def _fail(record: CallRecord, error: KnowledgeError) -> ToolResult:
    record.outcome = error.code
    record.cause = cause_of(error) if error.code in BROKEN else ""
    return failure(error)


def failure(error: KnowledgeError) -> ToolResult:
    """The envelope of a failure."""
    details = {"code": error.code, "message": error.message, "field": error.field, "retryable": error.retryable}
    return _result({"type": error.envelope, "error": details}, is_error=True)


def _result(envelope: Mapping[str, Any], *, is_error: bool) -> ToolResult:
    # NaN is not JSON: a score that is NaN is a fault, and must not be sent.
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return ToolResult(envelope, text, is_error)
