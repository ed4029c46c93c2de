"""Write access to a dataset: the one module of the publishing side that imports LanceDB."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType


class Store:
    """One dataset at one URI, for one embedding model. Nothing is opened before `async with`."""

    def __init__(
        self, uri: str, provider_model: str, dimensions: int, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self._uri = uri

    async def __aenter__(self) -> Store:
        raise NotImplementedError

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError
