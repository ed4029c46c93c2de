"""Small datasets, made by the publisher with a real model (`local-small`, memoized in the process)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeVar

from knowledge.embedding.base import EmbeddingProvider, Vectors
from knowledge.embedding.providers import LOCAL_SMALL, provider
from knowledge.scopes import Scope
from knowledge.store.schema import item_id
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.passages.markdown_blocks import TextKind
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import ItemOutcome, PublishReport
from publish_knowledge.publishing.publish import publish
from publish_knowledge.sources.documents import Document, derive_item_source
from publish_knowledge.store.database import Store

T = TypeVar("T")

ANA: Final = Scope("owner", "ana")
BEN: Final = Scope("owner", "ben")
SUPPORT: Final = Scope("team", "support")
FIELD: Final = Scope("team", "field")


@dataclass(frozen=True, slots=True)
class Location:
    """Where a dataset is: a folder or an `s3://` URI, and LanceDB's storage options for it."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict)

    def store(self) -> Store:
        """A store for writing there, to be entered with `async with`."""
        model = embedding()
        return Store(self.uri, model.model, model.dimensions, self.options)


@dataclass(slots=True)
class MemoizedProvider:
    """A provider that embeds each text once in a process, and counts the texts it was given."""

    inner: EmbeddingProvider
    embedded: int = 0
    known: dict[str, Vectors] = field(default_factory=dict)

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    def embed_query(self, text: str) -> Vectors:
        return self.inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        import numpy as np  # noqa: PLC0415 - not needed where documents are only named

        self.embedded += len(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        if missing:
            self.known.update(zip(missing, self.inner.embed_passages(missing), strict=True))
        return np.stack([self.known[text] for text in texts])


@cache
def embedding() -> MemoizedProvider:
    """The one provider of the test process."""
    return MemoizedProvider(provider(LOCAL_SMALL))


def embedder() -> Embedder:
    """An embedder without a cache file."""
    return Embedder(embedding())


def document(
    path: str,
    text: str,
    *,
    title: str | None = None,
    language: str = "en",
    kind: TextKind = "markdown",
    front_matter_id: str | None = None,
) -> Document:
    """A document as read from a file; its title is the path's stem where none is given."""
    name = path.rpartition("/")[2].partition(".")[0] if title is None else title
    return Document(path, text, name, language, kind, derive_item_source(path, front_matter_id))


def documents(texts: Mapping[str, str], **options: Any) -> list[Document]:  # noqa: ANN401 - those of `document`
    """Documents from path to text."""
    return [document(path, text, **options) for path, text in texts.items()]


def item(scope: Scope, base_id: str, path: str) -> str:
    """The id of a file without an id in its front matter."""
    return item_id(scope, base_id, derive_item_source(path))


async def put(
    where: Location,
    scope: Scope,
    base_id: str,
    texts: Mapping[str, str] | Iterable[Document],
    **options: Any,  # noqa: ANN401 - further fields of `PublishOptions`
) -> PublishReport:
    """Publish texts by path, or documents, with the publisher's own function."""
    given = documents(texts) if isinstance(texts, Mapping) else list(texts)
    async with where.store() as store:
        return await publish(store, PublishOptions(scope, base_id, **options), given, embedder=embedder())


async def put_one(where: Location, scope: Scope, base_id: str, given: Document, *, draft: bool = False) -> ItemOutcome:
    """Publish one document."""
    return (await put(where, scope, base_id, [given], draft=draft)).outcomes[0]


async def run_in_store(where: Location, work: Callable[..., Awaitable[T]], *arguments: Any) -> T:  # noqa: ANN401 - any
    """Run one of the publisher's functions that take a store first."""
    async with where.store() as store:
        return await work(store, *arguments)


def build(
    where: Location | str, content: Mapping[tuple[Scope, str], Mapping[str, str] | Iterable[Document]]
) -> Location:
    """Publish several bases from synchronous code: `{(scope, base): {path: text}}`."""
    there = Location(where) if isinstance(where, str) else where

    async def publish_all() -> None:
        for (scope, base_id), texts in content.items():
            await put(there, scope, base_id, texts)

    asyncio.run(publish_all())
    return there
