"""Publishing: plan, embed, store, commit, and tell what became of every document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from knowledge.scopes import Scope
from publish_knowledge.documents import Document
from publish_knowledge.embedder import Embedder
from publish_knowledge.plan import PublishReport
from publish_knowledge.store import Store

Progress = Callable[[str, int, int], None]
"""Hears the stage ("plan", "embed", "commit", "optimize"), how much of it is done and how much there is."""


async def publish(
    store: Store,
    scope: Scope,
    base_id: str,
    documents: Iterable[Document],
    *,
    embedder: Embedder,
    draft: bool = False,
    prune: bool = False,
    present: Collection[str] = (),
    dry_run: bool = False,
    on_progress: Progress = lambda _stage, _done, _total: None,
) -> PublishReport:
    """Publish documents into a base; see `PublishReport`.

    `prune` archives the base's published items whose source path is neither a document's nor in `present` (paths of
    files that are there but could not be read). Raises `InvalidRequestError` for an archived base.
    """
    raise NotImplementedError
