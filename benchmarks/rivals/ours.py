"""This project as a worker of `rivals`: `search DATASET`, or `protocol` with a tool that does nothing."""

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


class EmptyService:
    """A service that finds nothing."""

    async def search(self, scopes: Sequence[Scope], request: SearchRequest) -> SearchAnswer:
        """Return no results."""
        del scopes
        return SearchAnswer(request.mode, request.alpha, ())

    async def read(self, scopes: Sequence[Scope], request: object) -> ReadAnswer:
        """Not needed: only searches are sent."""
        raise NotImplementedError


def build_search(uri: str) -> Act:
    """Return the whole function over a dataset."""
    handler = Handler(Settings(uri, LOCAL, ON), _make_logger())
    handler.prepare()
    return handler


def build_protocol() -> Act:
    """Return everything but the search, with the call log and the checks of the caller."""
    access = Access(ClaimNames(), DEFAULT_REQUIRED_SCOPE)
    server = ProtocolServer(
        KnowledgeTool(EmptyService, FixedSwitch(on=True), access, CallLog(_make_logger())), listed=True
    )

    def answer(event: object) -> dict[str, Any]:
        request = read_event(event)
        return to_lambda(server.answer(request, CallContext(request.claims, "request", FOREVER)))

    return answer


def _make_logger() -> Logger:
    return Logger(service="rivals", stream=io.StringIO())


if __name__ == "__main__":
    serve(build_search(sys.argv[2]) if sys.argv[1] == "search" else build_protocol())
