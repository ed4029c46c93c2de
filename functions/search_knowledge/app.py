"""The composition root of the serving face: `handler` is what Lambda calls.

Importing this module composes the function from the environment and opens nothing. What is wrong with the settings is
the answer to a call, not a crash at import.
"""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import Any, Final, Self

from aws_lambda_powertools import Logger

from knowledge.dataset import Dataset
from knowledge.embedding import EmbeddingProvider, provider
from knowledge.errors import StorageUnavailableError
from knowledge.service import KnowledgeService
from search_knowledge.catalogue import NAME
from search_knowledge.exchange import INTERNAL_ERROR, INVALID_REQUEST, HttpResponse, rpc_error
from search_knowledge.gateway import MalformedEventError, read_event, request_id, to_lambda
from search_knowledge.journal import Journal
from search_knowledge.server import ProtocolServer
from search_knowledge.settings import Settings, settings_from
from search_knowledge.switch import switch_from
from search_knowledge.tool import Access, CallContext, KnowledgeTool

DEADLINE_SECONDS: Final = 25.0
"""Below the gateway's 29 s, which also count the start of a cold function."""

MARGIN_SECONDS: Final = 1.0
"""Kept of Lambda's own time for writing the answer."""


class Composition:
    """The heart as the settings describe it, built when the first call needs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def embedding(self) -> EmbeddingProvider:
        """The embedding provider; raises `StorageUnavailableError` for a name that is none."""
        try:
            return provider(self._settings.embedding)
        except ValueError:
            raise StorageUnavailableError(
                "The tool is set up wrongly: the setting EMBEDDING names no embedding provider. Tell its operator."
            ) from None

    @cached_property
    def service(self) -> KnowledgeService:
        """The service; raises `StorageUnavailableError` if a setting is missing or wrong."""
        settings = self._settings
        if not settings.uri:
            raise StorageUnavailableError(
                "The tool is set up wrongly: the setting LANCEDB_URI, where the data is, is missing. Tell its operator."
            )
        model, dimensions = self.embedding.model, self.embedding.dimensions
        dataset = Dataset(
            settings.uri, model=model, dimensions=dimensions, storage_options=dict(settings.storage_options)
        )
        return KnowledgeService(dataset, self.embedding)


class Handler:
    """A Lambda handler for one set of settings. Call it with one event at a time, outside any event loop."""

    def __init__(self, settings: Settings, logger: Logger | None = None) -> None:
        self._composition = Composition(settings)
        self._journal = Journal(logger or Logger(service=NAME))
        access = Access(settings.claim_names, settings.required_scope)
        switch = switch_from(settings.runtime_switch)
        tool = KnowledgeTool(lambda: self._composition.service, switch, access, self._journal)
        self._server = ProtocolServer(tool, listed=settings.listed)

    def __call__(self, event: object, context: object = None) -> dict[str, Any]:
        """The gateway's answer to an event; never raises for anything an event can hold."""
        return to_lambda(self._answer(event, context))

    def prepare(self) -> None:
        """Load before the first event, and before a snapshot, what needs no connection: the kernel and the model."""
        self._server.prepare()
        try:
            self._composition.embedding.embed_query("warm")
        except Exception as error:  # noqa: BLE001 - each call will say what is wrong; loading the function must not fail
            self._journal.fault(error, "prepare")

    def close(self) -> None:
        """Stop what runs in the background."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _answer(self, event: object, context: object) -> HttpResponse:
        identity = request_id(event, context)
        try:
            request = read_event(event, context)
            return self._server.answer(request, CallContext(request.claims, identity, _deadline(context)))
        except MalformedEventError as error:
            return rpc_error(400, INVALID_REQUEST, str(error))
        except Exception as error:  # noqa: BLE001 - outermost: the gateway would turn it into a bare 502
            self._journal.fault(error, identity)
            return rpc_error(500, INTERNAL_ERROR, f"The call failed for an unexpected reason. Quote {identity}.")


def build_handler(settings: Settings, logger: Logger | None = None) -> Handler:
    """A handler for explicit settings, beside any others in the process; close it when done."""
    return Handler(settings, logger)


def _deadline(context: object) -> float:
    """When the answer must be on its way, on the clock of `time.monotonic`."""
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    lambda_seconds = remaining() / 1000 - MARGIN_SECONDS if callable(remaining) else DEADLINE_SECONDS
    return time.monotonic() + min(DEADLINE_SECONDS, lambda_seconds)


def _from_environment() -> Handler:
    settings = settings_from(os.environ)
    composed = build_handler(settings)
    if settings.in_lambda:
        composed.prepare()
    return composed


handler: Final = _from_environment()
