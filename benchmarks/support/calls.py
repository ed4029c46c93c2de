"""Calls of the benchmarks: the caller's claims, the check of an answer, and the dataset that is read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from knowledge.claims import CONTEXT_MARK
from knowledge.embedding.base import EmbeddingProvider
from knowledge.store.dataset import Dataset


def member_of(*teams: str) -> dict[str, str]:
    """Return the claims of a caller who may read what these teams published."""
    return {"sub": "ana", "scope": "knowledge:read", "teams": json.dumps(teams), **CONTEXT_MARK}


def require_answer(answer: Mapping[str, Any]) -> None:
    """Raise `RuntimeError` for a refusal or a failure, whose time must not count."""
    if answer["statusCode"] != HTTPStatus.OK or '"isError":true' in answer["body"]:
        raise RuntimeError(answer["body"])


@asynccontextmanager
async def open_dataset(
    uri: str, model: EmbeddingProvider, options: Mapping[str, str] | None = None
) -> AsyncIterator[Dataset]:
    """Open a dataset as a function does, with no caches filled."""
    dataset = Dataset(uri, model=model.model, dimensions=model.dimensions, storage_options=options or {})
    try:
        yield dataset
    finally:
        await dataset.close()
