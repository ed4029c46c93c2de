"""Windows over real tables, on disk and on S3."""

from __future__ import annotations

import asyncio

import lancedb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.errors import ResourceUnavailableError, StorageUnavailableError
from knowledge.requests import ReadRequest
from publish_knowledge.publishing.lifecycle import archive_item
from tests.support.datasets import ANA, BEN, SUPPORT, Location, build, document, item, put, put_one, run_in_store
from tests.support.reading import open_service, read_windows, summarize

pytestmark = pytest.mark.anyio

MIXED = "# Überschrift\r\n\r\nCafé 👩‍👩‍👧‍👦 naïve\u0301 é\r\n日本語の文章。\0NUL\n\n" * 3
LONG_LINE = "no newline at all, word after word " * 900


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("text", [MIXED, LONG_LINE, "x", "👩‍👩‍👧‍👦" * 800, "あ" * 5000], ids=range(5))
@pytest.mark.parametrize("limit", [1, 7, 999, 4000, 10_000])
async def test_windows_join_to_the_whole_text(folder: Location, text: str, limit: int) -> None:
    used = text[: limit * 100]
    await put_one(folder, ANA, "notes", document("a.md", used))
    async with open_service(folder) as reader:
        assert await read_windows(reader, [ANA], item(ANA, "notes", "a.md"), limit) == used


async def test_a_window_in_the_middle_is_exact_and_names_its_section(location: Location) -> None:
    text = "".join(f"# Part {number}\n\n" + f"Sentence {number} about nothing. " * 30 + "\n\n" for number in range(20))
    await put_one(location, ANA, "notes", document("a.md", text))
    at = text.index("# Part 11")
    async with open_service(location) as reader:
        answer = await reader.read([ANA], ReadRequest(item(ANA, "notes", "a.md"), offset=at, limit=500))
    assert answer.content == text[at : at + 500]
    assert answer.locator == "Part 11"
    assert answer.as_dict()["continuation"]["offset"] == at + 500


async def test_past_the_end_is_empty_and_ends(folder: Location) -> None:
    await put_one(folder, ANA, "notes", document("a.md", "short"))
    async with open_service(folder) as reader:
        for offset in (5, 6, 10**12):
            answer = (await reader.read([ANA], ReadRequest(item(ANA, "notes", "a.md"), offset=offset))).as_dict()
            assert (answer["content"], answer["content_truncated"], answer["continuation"]) == ("", False, None)
            assert answer["content_offset"] == offset


async def test_an_empty_text_can_be_read(folder: Location) -> None:
    await put_one(folder, ANA, "notes", document("a.md", "", title="Only a title"))
    async with open_service(folder) as reader:
        answer = await reader.read([ANA], ReadRequest(item(ANA, "notes", "a.md")))
    assert (answer.content, answer.revision.total_chars, answer.revision.title) == ("", 0, "Only a title")


async def test_a_historical_revision_stays_readable_and_says_so(location: Location) -> None:
    texts = ["First text.\n", "Second text.\n", "First text.\n"]
    revisions = [(await put_one(location, ANA, "notes", document("a.md", text))).revision_id for text in texts]
    assert len(set(revisions)) == 3
    async with open_service(location) as reader:
        found = [summarize(await reader.read([ANA], ReadRequest(item(ANA, "notes", "a.md"), one))) for one in revisions]
        current = await reader.read([ANA], ReadRequest(item(ANA, "notes", "a.md")))
    assert found == [(texts[0], False), (texts[1], False), (texts[2], True)]
    assert current.revision.revision_id == revisions[2]


async def test_every_reason_for_not_reading_is_the_same_refusal(folder: Location) -> None:
    await put(folder, ANA, "notes", {"mine.md": "Mine.", "gone.md": "Gone."})
    other = await put_one(folder, ANA, "notes", document("other.md", "Other."))
    draft = await put_one(folder, ANA, "notes", document("draft.md", "Draft."), draft=True)
    hidden = await put_one(folder, ANA, "notes", document("mine.md", "Mine, but not yet."), draft=True)
    foreign = await put_one(folder, BEN, "notes", document("mine.md", "Ben's."))
    await run_in_store(folder, archive_item, ANA, item(ANA, "notes", "gone.md"))
    mine = item(ANA, "notes", "mine.md")
    refused = [
        ReadRequest("ki_missing"),
        ReadRequest(foreign.item_id),
        ReadRequest(item(ANA, "notes", "gone.md")),
        ReadRequest(draft.item_id),
        ReadRequest(mine, hidden.revision_id),
        ReadRequest(mine, other.revision_id),
        ReadRequest(mine, "kr_missing"),
        ReadRequest(mine, base_id="elsewhere"),
        ReadRequest(mine.upper()),
    ]
    async with open_service(folder) as reader:
        for request in refused:
            with pytest.raises(ResourceUnavailableError) as refusal:
                await reader.read([ANA, SUPPORT], request)
            assert (str(refusal.value), refusal.value.field) == (str(ResourceUnavailableError()), None)
        assert (await reader.read([ANA, SUPPORT], ReadRequest(mine, base_id="notes"))).content == "Mine."


async def test_a_revision_whose_text_is_lost_is_an_outage_and_not_an_empty_text(folder: Location) -> None:
    old = await put_one(folder, ANA, "notes", document("a.md", "First text.\n"))
    await put_one(folder, ANA, "notes", document("a.md", "Second text.\n"))
    connection = await lancedb.connect_async(folder.uri)
    await (await connection.open_table(ANA.revisions_table)).delete("true")
    async with open_service(folder) as reader:
        with pytest.raises(StorageUnavailableError):
            await reader.read([ANA], ReadRequest(old.item_id, old.revision_id))
        assert (await reader.read([ANA], ReadRequest(old.item_id))).content == "Second text.\n"


TEXTS = st.text(st.sampled_from("aé\u0301 \r\n\0あ漢👩\u200d🇪.#-`"), min_size=1, max_size=4000)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=TEXTS, limit=st.sampled_from([1, 2, 3, 61, 1000, 10_000]) | st.integers(1, 10_000))
def test_any_text_tiles(tmp_path_factory: pytest.TempPathFactory, text: str, limit: int) -> None:
    where = build(str(tmp_path_factory.mktemp("tiles") / "d"), {(ANA, "notes"): [document("a.md", text)]})

    async def whole() -> str:
        async with open_service(where) as reader:
            return await read_windows(reader, [ANA], item(ANA, "notes", "a.md"), max(limit, len(text) // 40 + 1))

    assert asyncio.run(whole()) == text
