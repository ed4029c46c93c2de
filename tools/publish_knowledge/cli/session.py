"""What one run of the command works with, put together from options; nothing is opened or loaded before its use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from knowledge.embedding.base import EmbeddingProvider
from knowledge.embedding.providers import provider
from knowledge.store.options import storage_options_from
from publish_knowledge.cli.output import Output
from publish_knowledge.embedding.cache import VectorCache
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.embedding.fast_e5.provider import describe_engine, select_passage_provider

if TYPE_CHECKING:
    from knowledge.store.dataset import Dataset
    from publish_knowledge.store.database import Store

_WRITING: Final = {"timeout": "120s", "client_max_retries": "5", "client_retry_timeout": "60"}
"""A reader has seconds; a publisher sends megabytes over an uplink, and rather waits than starts again."""


@dataclass(slots=True)
class Session:
    """Set up by the composition root; `environ` is what storage options are taken from."""

    environ: Mapping[str, str]
    cache_folder: Path
    output: Output = field(default_factory=Output)


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset and the embedding model it is used with."""

    session: Session
    uri: str
    provider: EmbeddingProvider

    # LanceDB takes two seconds to import; `--help` and a mistyped option should not wait for it.

    def store(self) -> Store:
        """Write access."""
        from publish_knowledge.store.database import Store  # noqa: PLC0415 - see above

        options = {**storage_options_from(self.session.environ), **_WRITING}
        return Store(self.uri, self.provider.model, self.provider.dimensions, options)

    def dataset(self) -> Dataset:
        """Read access, as the served tool has it."""
        from knowledge.store.dataset import Dataset  # noqa: PLC0415 - see above

        options = storage_options_from(self.session.environ)
        model, dimensions = self.provider.model, self.provider.dimensions
        return Dataset(self.uri, model=model, dimensions=dimensions, storage_options=options)

    def embedder(self, on_progress: Callable[[int, int], None], *, cached: bool) -> Embedder:
        """The provider with the cache before it, or alone."""
        folder, model, dimensions = self.session.cache_folder, self.provider.model, self.provider.dimensions
        cache = VectorCache(folder, model, dimensions) if cached else None
        return Embedder(select_passage_provider(self.provider), cache, on_progress)

    def report_engine(self) -> None:
        """Say on stderr which engine embeds passages, where the model has several."""
        sentence = describe_engine(select_passage_provider(self.provider))
        if sentence:
            self.session.output.note(sentence)


def target(session: Session, uri: str, embedding: str) -> Target:
    """Raises `ValueError` for an unknown embedding."""
    region = session.environ.get("AWS_REGION") or session.environ.get("AWS_DEFAULT_REGION")
    return Target(session, uri, provider(embedding, region=region))
