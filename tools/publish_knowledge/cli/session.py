"""The session of one command and its target; nothing is opened or loaded before it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from knowledge.embedding.base import EmbeddingProvider
from knowledge.embedding.providers import provider
from knowledge.scopes import Scope
from knowledge.store.options import storage_options_from
from publish_knowledge.cli.output import Output
from publish_knowledge.embedding.cache import VectorCache
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.embedding.fast_e5.provider import describe_engine, select_passage_provider

if TYPE_CHECKING:
    from knowledge.store.dataset import Dataset
    from publish_knowledge.store.database import Store

T = TypeVar("T")

_WRITE_OPTIONS: Final = {"timeout": "120s", "client_max_retries": "5", "client_retry_timeout": "60"}
"""A reader has seconds; a publisher sends megabytes over an uplink, and waiting is better than starting again."""


@dataclass(slots=True)
class Session:
    """Created by the composition root; storage options come from `environ`."""

    environ: Mapping[str, str]
    cache_folder: Path
    output: Output = field(default_factory=Output)


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset and the embedding model it is used with."""

    session: Session
    uri: str
    provider: EmbeddingProvider

    # LanceDB takes a second or two to import, for which `--help` and a mistyped option should not wait. All modules of
    # the command can be imported without it; only these two methods load the ones that need it.

    def create_store(self) -> Store:
        """Write access."""
        from publish_knowledge.store.database import Store  # noqa: PLC0415 - it imports LanceDB: see above
        from publish_knowledge.store.retries import disable_retry_logging  # noqa: PLC0415 - as above

        disable_retry_logging()
        options = {**storage_options_from(self.session.environ), **_WRITE_OPTIONS}
        return Store(self.uri, self.provider.model, self.provider.dimensions, options)

    def create_dataset(self) -> Dataset:
        """Read access, as in the served tool."""
        from knowledge.store.dataset import Dataset  # noqa: PLC0415 - it imports LanceDB: see above

        options = storage_options_from(self.session.environ)
        model, dimensions = self.provider.model, self.provider.dimensions
        return Dataset(self.uri, model=model, dimensions=dimensions, storage_options=options)

    def run(self, work: Callable[[Store], Awaitable[T]]) -> T:
        """Run work that needs write access, in an event loop of its own."""

        async def run_in_store() -> T:
            async with self.create_store() as store:
                return await work(store)

        return asyncio.run(run_in_store())

    def run_in_scope(self, scope: Scope, work: Callable[[Store], Awaitable[T]]) -> T:
        """Run work on an owner or a team that the dataset has. Raises `InvalidRequestError` for another."""
        from publish_knowledge.publishing.known_names import require_known_scope  # noqa: PLC0415 - as above
        from publish_knowledge.store.marker import require_dataset  # noqa: PLC0415 - as above

        async def run_if_known(store: Store) -> T:
            await require_dataset(store)
            await require_known_scope(store, scope)
            return await work(store)

        return self.run(run_if_known)

    def create_embedder(
        self, on_progress: Callable[[int, int], None], *, cached: bool, on_load: Callable[[], None] = lambda: None
    ) -> Embedder:
        """The fastest engine of the model, with or without the cache."""
        folder, model, dimensions = self.session.cache_folder, self.provider.model, self.provider.dimensions
        cache = VectorCache(folder, model, dimensions) if cached else None
        return Embedder(select_passage_provider(self.provider), cache, on_progress, on_load)

    def report_engine(self) -> None:
        """Say on stderr which engine embeds passages, where the model has several."""
        sentence = describe_engine(select_passage_provider(self.provider))
        if sentence:
            self.session.output.note(sentence)


def create_target(session: Session, uri: str, embedding: str) -> Target:
    """Raises `ValueError` for an unknown embedding model."""
    region = session.environ.get("AWS_REGION") or session.environ.get("AWS_DEFAULT_REGION")
    return Target(session, uri, provider(embedding, region=region))
