"""The options of a publish."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from knowledge.scopes import Scope
from publish_knowledge.sources.documents import normalize_path
from publish_knowledge.store.records import ItemHead


def _select_all(_path: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Where documents go and how.

    With `prune`, published items of the base below `folders` (`None`: all of them) that are no longer any document's
    are archived. What was not looked for is not gone: neither source paths in `unread`, files that are there but could
    not be read, nor those below `unseen`, folders that could not be looked into, nor what `selects` denies. `siblings`
    are the paths in folders of which single files are published, by folder. With `report_gone` items without
    a document are only reported. With `reconvert`, documents whose conversion differs from the stored text get a new
    revision although their original is the same.
    """

    scope: Scope
    base_id: str
    draft: bool = False
    prune: bool = False
    dry_run: bool = False
    reconvert: bool = False
    folders: tuple[str, ...] | None = None
    unread: Collection[str] = ()
    unseen: tuple[str, ...] = ()
    selects: Callable[[str], bool] = _select_all
    siblings: Mapping[str, Collection[str]] = field(default_factory=dict)
    report_gone: bool = False

    def covers(self, head: ItemHead) -> bool:
        """Whether this publish looked for an item's file where it was, and would have found it."""
        path = normalize_path(head.info.source_uri)
        is_seen = self._is_below_folders(path) and not path.startswith(self.unseen)
        return is_seen and path not in self.unread and self.selects(path)

    def prunes(self, head: ItemHead) -> bool:
        """Whether an item without a document is to be archived by this publish."""
        return self.prune and self.covers(head)

    def keeps(self, head: ItemHead) -> bool:
        """Whether an item without a document would be archived, could its file be looked for."""
        path = normalize_path(head.info.source_uri)
        return self.prune and self._is_below_folders(path) and path.startswith(self.unseen)

    def misses(self, head: ItemHead) -> bool:
        """Whether an item's file is known to be no longer what it was published from."""
        path = normalize_path(head.info.source_uri)
        beside = self.siblings.get(f"{path.rpartition('/')[0]}/" if "/" in path else "")
        return (self.folders is not None and self.covers(head)) or (beside is not None and path not in beside)

    def _is_below_folders(self, path: str) -> bool:
        return self.folders is None or path.startswith(self.folders)
