"""What a publish may be asked to do."""

from __future__ import annotations

import pytest

from knowledge.errors import InvalidRequestError
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.publish import publish
from tests.support.datasets import (
    ANA,
    Location,
    documents,
    embedder,
    item,
    put,
)
from tests.support.publishing import HARBOUR, RIVER, publish_text, run
from tests.support.reading import read_text


def test_pruning_archives_items_whose_file_is_gone_and_no_others(location: Location) -> None:
    async def story() -> None:
        await put(location, ANA, "notes", {"a.md": RIVER, "b.md": HARBOUR, "broken.md": "Still there."})
        await put(location, ANA, "other", {"c.md": HARBOUR})
        async with location.store() as store:
            given = documents({"a.md": RIVER})
            options = PublishOptions(ANA, "notes", prune=True, unread={"broken.md"})
            report = await publish(store, options, given, embedder=embedder())
        assert [(one.source_path, one.action) for one in report.outcomes] == [
            ("a.md", "unchanged"),
            ("b.md", "archived"),
        ]
        assert await read_text(location, ANA, item(ANA, "notes", "b.md")) is None
        assert await read_text(location, ANA, item(ANA, "notes", "broken.md")) == "Still there."
        assert await read_text(location, ANA, item(ANA, "other", "c.md")) == HARBOUR

    run(story())


def test_a_draft_cannot_prune(folder: Location) -> None:
    with pytest.raises(InvalidRequestError, match="cannot prune"):
        run(publish_text(folder, "a.md", RIVER, draft=True, prune=True))  # type: ignore[arg-type]
