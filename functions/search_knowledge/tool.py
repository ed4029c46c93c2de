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

from knowledge.errors import InternalError, KnowledgeError, RuntimeDisabledError, StorageUnavailableError
from knowledge.requests import ReadRequest, SearchRequest
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Scope, authorized_scopes
from search_knowledge.arguments import parse
from search_knowledge.call_log import BROKEN, OK, CallRecord, Journal, caller_key, cause_of
from search_knowledge.claims import ClaimNames, Claims, caller_of
from search_knowledge.switch import Switch
from search_knowledge.tool_definition import NAME


class Knowledge(Protocol):
    """What the tool needs of the heart."""

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
    """How callers are known and what they need."""

    claim_names: ClaimNames
    required_scope: str


class KnowledgeTool:
    """Answers calls. `knowledge` is asked for at each call, so that a fault in composing it is that call's answer."""

    def __init__(self, knowledge: Callable[[], Knowledge], switch: Switch, access: Access, journal: Journal) -> None:
        self._knowledge = knowledge
        self._switch = switch
        self._access = access
        self._journal = journal

    async def call(self, arguments: Mapping[str, object], context: CallContext) -> ToolResult:
        """One call, one envelope; raises nothing but cancellation."""
        started = time.monotonic()
        progress = _Progress()
        try:
            result = await self._answer(arguments, context, progress)
        except KnowledgeError as error:
            result = progress.failed(error)
        except Exception as error:  # noqa: BLE001 - outermost: the protocol kernel would show the exception's text
            self._journal.fault(error, context.request_id)
            result = progress.failed(InternalError(context.request_id))
        self._journal.call(progress.record(context.request_id, round(1000 * (time.monotonic() - started))))
        return result

    async def _answer(self, arguments: Mapping[str, object], context: CallContext, progress: _Progress) -> ToolResult:
        if not await self._switch.is_on(context.deadline):
            raise RuntimeDisabledError
        caller = caller_of(context.claims, self._access.claim_names)
        progress.caller, progress.client, progress.tier = caller_key(caller.owner_id), caller.client_id, caller.tier
        scopes = authorized_scopes(caller, self._access.required_scope)
        request = parse(arguments)
        progress.shape = "read" if isinstance(request, ReadRequest) else "search"
        progress.mode = request.mode if isinstance(request, SearchRequest) else ""
        answer = await self._in_time(scopes, request, context.deadline)
        return _result(answer.as_dict(), is_error=False)

    async def _in_time(
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


@dataclass(slots=True)
class _Progress:
    """How far a call got, for the journal."""

    caller: str = ""
    client: str = ""
    tier: str = ""
    shape: str = ""
    mode: str = ""
    outcome: str = OK
    cause: str = ""

    def failed(self, error: KnowledgeError) -> ToolResult:
        self.outcome = error.code
        self.cause = cause_of(error) if error.code in BROKEN else ""
        return failure(error)

    def record(self, request_id: str, duration_ms: int) -> CallRecord:
        return CallRecord(
            request_id=request_id,
            caller=self.caller,
            client=self.client,
            tier=self.tier,
            tool=NAME,
            shape=self.shape,
            mode=self.mode,
            outcome=self.outcome,
            duration_ms=duration_ms,
            cause=self.cause,
        )


def failure(error: KnowledgeError) -> ToolResult:
    """The envelope of a failure."""
    about = {"code": error.code, "message": error.message, "field": error.field, "retryable": error.retryable}
    return _result({"type": error.envelope, "error": about}, is_error=True)


def _result(envelope: Mapping[str, Any], *, is_error: bool) -> ToolResult:
    # NaN is no JSON: a score that is none is a fault to find, not one to pass on.
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return ToolResult(envelope, text, is_error)
