"""Refusals: missing, foreign, archived, draft, orphaned, wrong base and wrong revision have one answer."""

from __future__ import annotations

import asyncio

import lancedb

from knowledge.store.schema import HEAD, row_key
from publish_knowledge.publishing.lifecycle import archive_base, archive_item
from tests.support.calls import body_of, rest_event, switched_on, tool_call
from tests.support.datasets import ANA, BEN, SUPPORT, Location, document, item, put, put_one, run_in_store


async def _orphan(where: Location, item_id: str) -> None:
    """Take an item's head away, as no command does."""
    connection = await lancedb.connect_async(where.uri, storage_options=dict(where.options))
    table = await connection.open_table(ANA.current_table)
    await table.delete(f"key = '{row_key(HEAD, item_id)}'")


async def _publish_all(where: Location) -> dict[str, dict[str, str]]:
    """Arguments of every refused call, by reason."""
    await put(where, ANA, "notes", {"mine.md": "Mine one.", "gone.md": "Gone pump.", "orphan.md": "Orphan pump."})
    other = await put_one(where, ANA, "notes", document("other.md", "Other text."))
    draft = await put_one(where, ANA, "notes", document("draft.md", "Draft pump."), draft=True)
    unpublished = await put_one(where, ANA, "notes", document("mine.md", "Mine, later."), draft=True)
    foreign = await put_one(where, BEN, "private", document("mine.md", "Ben's pump."))
    closed = await put_one(where, ANA, "closed", document("mine.md", "Closed pump."))
    mine, gone, orphan = (item(ANA, "notes", f"{name}.md") for name in ("mine", "gone", "orphan"))
    await run_in_store(where, archive_item, ANA, gone)
    await run_in_store(where, archive_base, ANA, "closed")
    await _orphan(where, orphan)
    return {
        "missing": {"knowledge_item_id": "ki_" + "0" * 32},
        "foreign": {"knowledge_item_id": foreign.item_id},
        "foreign revision": {"knowledge_item_id": foreign.item_id, "knowledge_revision_id": foreign.revision_id},
        "archived": {"knowledge_item_id": gone},
        "archived base": {"knowledge_item_id": closed.item_id},
        "archived base's revision": {
            "knowledge_item_id": closed.item_id,
            "knowledge_revision_id": closed.revision_id,
        },
        "draft": {"knowledge_item_id": draft.item_id},
        "draft's revision": {"knowledge_item_id": draft.item_id, "knowledge_revision_id": draft.revision_id},
        "unpublished revision": {"knowledge_item_id": mine, "knowledge_revision_id": unpublished.revision_id},
        "orphaned": {"knowledge_item_id": orphan},
        "wrong base": {"knowledge_item_id": mine, "knowledge_base_id": "other"},
        "another item's revision": {"knowledge_item_id": mine, "knowledge_revision_id": other.revision_id},
        "missing base": {"query": "pump", "knowledge_base_id": "missing"},
        "foreign base": {"query": "pump", "knowledge_base_id": "private"},
        "closed base": {"query": "pump", "knowledge_base_id": "closed"},
    }


def test_every_refusal_is_the_same_answer_to_the_byte(location: Location) -> None:
    refused = asyncio.run(_publish_all(location))
    with switched_on(location.uri, storage_options=location.options) as handler:
        answers = {reason: body_of(handler(rest_event(tool_call(call)))) for reason, call in refused.items()}
        expected = answers["missing"]
        assert expected["result"]["structuredContent"] == {
            "type": "knowledge_error",
            "error": {
                "code": "knowledge_resource_unavailable",
                "message": (
                    "The knowledge base, item or revision does not exist, is not published, or is not yours to read."
                ),
                "field": None,
                "retryable": False,
            },
        }
        assert {reason for reason, answer in answers.items() if answer != expected} == set()


def test_what_cannot_be_read_is_not_found_either(location: Location) -> None:
    asyncio.run(_publish_all(location))
    asyncio.run(put(location, SUPPORT, "docs", {"pump.md": "The team's pump."}))
    with switched_on(location.uri, storage_options=location.options) as handler:
        for mode in ("hybrid", "lexical", "semantic", "rrf"):
            call = tool_call({"query": "pump", "mode": mode, "max_results": 50})
            results = body_of(handler(rest_event(call)))["result"]["structuredContent"]["results"]
            found = {hit["source"]["uri"] for hit in results}
            assert found == ({"pump.md"} if mode == "lexical" else {"pump.md", "mine.md", "other.md"})
