"""Which items a publish prunes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knowledge.store.revision import RevisionInfo
from knowledge.store.schema import PUBLISHED
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.store.records import ItemHead
from tests.support.datasets import ANA

OPTIONS = PublishOptions(ANA, "notes", prune=True)
INFO = RevisionInfo(ANA, "notes", "ki_1", "kr_1", "Pump", "en", "", "file", "docs/pump.md", 6, "0" * 64)
HEAD = ItemHead(INFO, previous_id="", fingerprint="f", state=PUBLISHED, sequence=1)


@pytest.mark.parametrize(
    ("options", "pruned"),
    [
        (OPTIONS, True),
        (replace(OPTIONS, prune=False), False),
        (replace(OPTIONS, folders=("docs/",)), True),
        (replace(OPTIONS, folders=("guides/", "docs/")), True),
        (replace(OPTIONS, folders=("guides/",)), False),
        (replace(OPTIONS, folders=()), False),
        (replace(OPTIONS, unread={"docs/pump.md"}), False),
        (replace(OPTIONS, unread={"pump.md"}), True),
    ],
)
def test_items_below_the_published_folders_are_pruned_unless_their_file_is_there(
    options: PublishOptions, *, pruned: bool
) -> None:
    assert options.prunes(HEAD) is pruned
