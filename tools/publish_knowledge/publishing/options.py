"""The options of a publish."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from knowledge.scopes import Scope
from publish_knowledge.store.records import ItemHead


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Where documents go and how.

    With `prune`, published items of the base below `folders` that are no longer any document's are archived, unless
    their source path is in `unread`: files that are there but could not be read.
    """

    scope: Scope
    base_id: str
    draft: bool = False
    prune: bool = False
    dry_run: bool = False
    folders: tuple[str, ...] = ("",)
    unread: Collection[str] = ()

    def prunes(self, head: ItemHead) -> bool:
        """Whether an item without a document is to be archived by this publish."""
        path = head.info.source_uri
        return self.prune and path.startswith(self.folders) and path not in self.unread
