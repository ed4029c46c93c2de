"""The project's own part in `rivals`, as a process: `search DATASET`, or `protocol` with a tool that does nothing."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any, Final

from aws_lambda_powertools import Logger

from benchmarks.rivals.worker import Act, serve
from knowledge.claims import ClaimNames
from knowledge.embedding.providers import LOCAL
from knowledge.requests import SearchRequest
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Scope
from search_knowledge.app import Handler
from search_knowledge.call_log import CallLog
from search_knowledge.gateway import read_event, to_lambda
from search_knowledge.mcp_server import ProtocolServer
from search_knowledge.settings import DEFAULT_REQUIRED_SCOPE, Settings
from search_knowledge.switch import ON, FixedSwitch
from search_knowledge.tool import Access, CallContext, KnowledgeTool

FOREVER: Final = 1e12


class Nothing:
    """Finds nothing, at once."""

    async def search(self, scopes: Sequence[Scope], request: SearchRequest) -> SearchAnswer:
        """No results."""
        del scopes
        return SearchAnswer(request.mode, request.alpha, ())

    async def read(self, scopes: Sequence[Scope], request: object) -> ReadAnswer:
        """Nobody asks for it."""
        raise NotImplementedError


def searching(uri: str) -> Act:
    """The whole function over a dataset."""
    handler = Handler(Settings(uri, LOCAL, ON), _logger())
    handler.prepare()
    return handler


def protocol() -> Act:
    """Everything but the search, call_log and checks of the caller included."""
    access = Access(ClaimNames(), DEFAULT_REQUIRED_SCOPE)
    server = ProtocolServer(KnowledgeTool(Nothing, FixedSwitch(on=True), access, CallLog(_logger())), listed=True)

    def answer(event: object) -> dict[str, Any]:
        request = read_event(event)
        return to_lambda(server.answer(request, CallContext(request.claims, "request", FOREVER)))

    return answer


def _logger() -> Logger:
    return Logger(service="rivals", stream=io.StringIO())


if __name__ == "__main__":
    serve(searching(sys.argv[2]) if sys.argv[1] == "search" else protocol())
