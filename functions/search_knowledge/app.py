"""The composition root of the server: `handler` is what Lambda calls.

Importing this module composes the function from the environment and opens nothing. A wrong setting
is the answer to a call, not an error at import.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self

from search_knowledge.startup import LAMBDA_MARK, around_snapshots, begin_loading, freeze_memory

if LAMBDA_MARK in os.environ:
    begin_loading()

# These need no packed library, so they are imported while the libraries are unpacked.
from aws_lambda_powertools import Logger

from search_knowledge.call_log import CallLog
from search_knowledge.gateway import MalformedEventError, read_event, request_id, to_lambda
from search_knowledge.http_messages import INTERNAL_ERROR, INVALID_REQUEST, HttpResponse, rpc_error
from search_knowledge.mcp_server import ProtocolServer
from search_knowledge.metrics import Metrics
from search_knowledge.switch import switch_from
from search_knowledge.tool import Access, CallContext, KnowledgeTool
from search_knowledge.tool_definition import NAME

# isort: split
from knowledge.embedding.base import EmbeddingProvider, Remote
from knowledge.embedding.providers import CHOICES, MissingModelError, provider
from knowledge.errors import StorageUnavailableError
from search_knowledge.settings import Settings, settings_from

if TYPE_CHECKING:
    from knowledge.service import KnowledgeService
    from knowledge.store.dataset import Dataset

DEADLINE_SECONDS: Final = 25.0
"""Below the gateway's 29 s, which include the start of a cold function."""

MARGIN_SECONDS: Final = 1.0
"""Reserved from Lambda's remaining time for writing the answer."""


class SetupError(StorageUnavailableError):
    """A setting is missing or wrong; `remedy` is for the operator, in the log."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"The tool is set up wrongly: {what}. Tell its operator.")
        self.remedy = remedy


class Composition:
    """The core library as the settings describe it, built when the first call needs it."""

    def __init__(self, settings: Settings, embedding: EmbeddingProvider | None = None) -> None:
        self._settings = settings
        self._embedding = embedding
        self._service: KnowledgeService | None = None

    @property
    def embedding(self) -> EmbeddingProvider:
        """The embedding provider; raises `SetupError` for an unknown name, or a model that the package lacks."""
        if self._embedding is None:
            self._embedding = _provider(self._settings)
        return self._embedding

    @property
    def service(self) -> KnowledgeService:
        """The service; raises `SetupError` if a setting is missing or wrong."""
        if self._service is None:
            self._service = self._build_service()
        return self._service

    def prepare(self) -> None:
        """Load the embedding model, or the client of one that is reached over the network, and then LanceDB."""
        if isinstance(self.embedding, Remote):
            self.embedding.prepare()
        else:
            self.embedding.embed_query("warm")
        _load_core()

    def renew(self) -> None:
        """Discard every connection and the credentials it was made with; the model stays."""
        self._service = None
        embedding = self._embedding
        if embedding is not None and isinstance(embedding, Remote):
            embedding.renew()

    def _build_service(self) -> KnowledgeService:
        settings, embedding = self._settings, self.embedding
        if not settings.uri:
            raise SetupError("the setting LANCEDB_URI, where the data is, is missing", "set it to the dataset's URI")
        dataset_class, service_class = _load_core()
        dataset = dataset_class(
            settings.uri,
            model=embedding.model,
            dimensions=embedding.dimensions,
            storage_options=dict(settings.storage_options),
        )
        return service_class(dataset, embedding)


class Handler:
    """A Lambda handler for one set of settings. Call it with one event at a time, outside any event loop."""

    def __init__(
        self, settings: Settings, logger: Logger | None = None, embedding: EmbeddingProvider | None = None
    ) -> None:
        self._composition = Composition(settings, embedding)
        self._call_log = CallLog(logger or Logger(service=NAME), _metrics(settings))
        access = Access(settings.claim_names, settings.required_scope)
        self._switch = switch_from(settings.runtime_switch, self._on_switch_fault, _region(settings))
        tool = KnowledgeTool(lambda: self._composition.service, self._switch, access, self._call_log)
        self._server = ProtocolServer(tool, listed=settings.listed)

    def __call__(self, event: object, context: object = None) -> dict[str, Any]:
        """The gateway's answer to an event; never raises for anything an event can hold."""
        return to_lambda(self._answer(event, context))

    def prepare(self) -> None:
        """Load before the first event, and before a snapshot, what needs no connection."""
        self._server.prepare()
        self._switch.prepare()
        try:
            self._composition.prepare()
        except Exception as error:  # noqa: BLE001 - each call reports what is wrong; loading the function must not fail
            self._call_log.record_fault(error, "prepare")

    def renew(self) -> None:
        """Drop connections, credentials and the switch's state around a snapshot."""
        self._switch.renew()
        self._composition.renew()

    def close(self) -> None:
        """Stop what runs in the background."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _answer(self, event: object, context: object) -> HttpResponse:
        identity = request_id(event, context)
        self._call_log.record_event()
        try:
            request = read_event(event, context)
            return self._server.answer(request, CallContext(request.claims, identity, _deadline(context)))
        except MalformedEventError as error:
            return rpc_error(400, INVALID_REQUEST, str(error))
        except Exception as error:  # noqa: BLE001 - outermost: the gateway would turn it into a bare 502
            self._call_log.record_fault(error, identity)
            return rpc_error(500, INTERNAL_ERROR, f"The call failed for an unexpected reason. Quote {identity}.")

    def _on_switch_fault(self, error: Exception) -> None:
        self._call_log.record_fault(error, "switch")


def _provider(settings: Settings) -> EmbeddingProvider:
    try:
        return provider(settings.embedding, region=_region(settings))
    except MissingModelError as error:
        raise SetupError("the model that the setting EMBEDDING names is not in its package", str(error)) from None
    except ValueError:
        raise SetupError("the setting EMBEDDING names no embedding provider", f"set it to {CHOICES}") from None


def _load_core() -> tuple[type[Dataset], type[KnowledgeService]]:
    from knowledge.service import KnowledgeService  # noqa: PLC0415 - as above
    from knowledge.store.dataset import Dataset  # noqa: PLC0415 - LanceDB: half of what has to be unpacked, so it is imported last

    return Dataset, KnowledgeService


def _metrics(settings: Settings) -> Metrics | None:
    return Metrics(settings.metrics_namespace, NAME) if settings.metrics_namespace else None


def _region(settings: Settings) -> str | None:
    """The region of every service; boto3 by itself would not read `AWS_REGION`."""
    return settings.storage_options.get("region")


def _deadline(context: object) -> float:
    """When the answer must be on its way, on the clock of `time.monotonic`."""
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    lambda_seconds = remaining() / 1000 - MARGIN_SECONDS if callable(remaining) else DEADLINE_SECONDS
    return time.monotonic() + min(DEADLINE_SECONDS, lambda_seconds)


def _compose_for_lambda(settings: Settings) -> Handler:
    composed = Handler(settings)
    composed.prepare()
    around_snapshots(before=composed.renew, after=composed.renew)
    freeze_memory()
    return composed


def _follow_environment() -> Callable[..., dict[str, Any]]:
    """A handler that is built again when the environment has changed.

    Lambda never changes a running function's environment; the process of a local host, a notebook or a test does.
    """
    settings = settings_from(os.environ)
    composed = Handler(settings)

    def handle(event: object, context: object = None) -> dict[str, Any]:
        nonlocal settings, composed
        current = settings_from(os.environ)
        if current != settings:
            composed.close()
            settings, composed = current, Handler(current)
        return composed(event, context)

    return handle


handler: Final = _compose_for_lambda(settings_from(os.environ)) if LAMBDA_MARK in os.environ else _follow_environment()
