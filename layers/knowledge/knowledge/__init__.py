"""The core library: what a dataset holds, who may see it, and how it is searched and read.

These names are public. Each is imported when it is first used, so that importing the package loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from knowledge.embedding.providers import provider
    from knowledge.errors import (
        DatasetMismatchError,
        InternalError,
        InvalidRequestError,
        ItemRequiredError,
        KnowledgeError,
        QueryRequiredError,
        ResourceUnavailableError,
        RuntimeDisabledError,
        ScopeRequiredError,
        StorageUnavailableError,
    )
    from knowledge.requests import ReadRequest, SearchRequest
    from knowledge.results import ReadAnswer, SearchAnswer, SearchHit
    from knowledge.scopes import Caller, Scope
    from knowledge.service import KnowledgeService
    from knowledge.store.dataset import Dataset
    from knowledge.store.revision import RevisionInfo

__all__ = [
    "Caller",
    "Dataset",
    "DatasetMismatchError",
    "InternalError",
    "InvalidRequestError",
    "ItemRequiredError",
    "KnowledgeError",
    "KnowledgeService",
    "QueryRequiredError",
    "ReadAnswer",
    "ReadRequest",
    "ResourceUnavailableError",
    "RevisionInfo",
    "RuntimeDisabledError",
    "Scope",
    "ScopeRequiredError",
    "SearchAnswer",
    "SearchHit",
    "SearchRequest",
    "StorageUnavailableError",
    "provider",
]

_HOMES: Final = {
    "Caller": "scopes",
    "Dataset": "store.dataset",
    "KnowledgeService": "service",
    "ReadAnswer": "results",
    "ReadRequest": "requests",
    "RevisionInfo": "store.revision",
    "Scope": "scopes",
    "SearchAnswer": "results",
    "SearchHit": "results",
    "SearchRequest": "requests",
    "provider": "embedding.providers",
}
"""Modules of the public names; every other is in `errors`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    found: object = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
