"""Terms are written by the version that the table says, and renewed without a model, beside publishers and readers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from knowledge.errors import StorageUnavailableError
from knowledge.results import Scores, SearchAnswer
from knowledge.store.schema import ANALYZER_VERSION, META_ANALYZER, PASSAGE, TERMS
from publish_knowledge.maintenance import reindex_dataset
from publish_knowledge.publishing import terms as terms_module
from publish_knowledge.publishing.lifecycle import archive_item, restore_item
from publish_knowledge.publishing.terms import reindex_scope
from publish_knowledge.store.scope_tables import ScopeTables
from tests.support.datasets import ANA, BEN, Location, embedding, item, put, run_in_store
from tests.support.publishing import open_tables
from tests.support.reading import list_paths, search_scope

pytestmark = pytest.mark.anyio

TABLE = "| Model | Battery |\n|---|---|\n" + "\n".join(f"| X{n:03} | {n} hours |" for n in range(60))
TEXTS = {
    "adr/postgres/0007.md": "# Orders\n\nWe keep them in one database.\n",
    "projects/apollo/contacts.md": "# People\n\nAnna leads it.\n",
    "devices.md": f"# Devices\n\nAll of them.\n\n{TABLE}\n",
}
QUERIES = ("postgres", "apollo", "battery X041", "database", "Anna")


async def make_old(where: Location, texts: dict[str, str] | None = None) -> ScopeTables:
    """Publish as the first version of the analyzer did, into a table that names no version."""
    await put(where, ANA, "notes", {})
    tables = await open_tables(where)
    await set_versions(tables, "1")
    await put(where, ANA, "notes", TEXTS if texts is None else texts)
    return tables


async def set_versions(tables: ScopeTables, text: str) -> None:
    await tables.current.set_column_metadata(TERMS, {META_ANALYZER: text})


async def read_rows(tables: ScopeTables) -> pa.Table:
    columns = ["key", "item_id", "revision_id", "ordinal", "text", "vector", "terms"]
    return (await tables.current.read_rows({"kind": PASSAGE}, columns)).sort_by("key")


async def search_all(where: Location) -> list[SearchAnswer]:
    return [await search_scope(where, ANA, query, "lexical") for query in QUERIES]


def summarize_hits(answer: SearchAnswer) -> list[tuple[str, str, Scores]]:
    """All of the hits but the time of publishing."""
    return [(hit.revision.item_id, hit.excerpt, hit.scores) for hit in answer.hits]


async def test_a_publish_into_an_older_table_writes_the_terms_of_its_version(folder: Location) -> None:
    tables = await make_old(folder)
    assert await tables.read_analyzer_versions() == (1,)
    found = await search_all(folder)
    assert [len(answer.hits) for answer in found] == [0, 0, 1, 1, 1]
    await put(folder, ANA, "notes", {"projects/apollo/budget.md": "Small.\n"})
    assert (await search_scope(folder, ANA, "apollo", "lexical")).hits == ()


async def test_renewed_terms_are_those_of_a_new_table_and_all_else_stays(folder: Location, tmp_path: Path) -> None:
    tables = await make_old(folder)
    other = Location(str(tmp_path / "new"))
    await put(other, ANA, "notes", TEXTS)
    before = await read_rows(tables)
    embedded = embedding().embedded
    (report,) = await run_in_store(folder, reindex_dataset)
    assert (report.before, report.after) == ("1", str(ANALYZER_VERSION))
    assert report.passages == before.num_rows
    assert embedding().embedded == embedded
    after, new = await read_rows(tables), await read_rows(await open_tables(other))
    assert after.drop_columns("terms").equals(before.drop_columns("terms"))
    assert after.column("terms").equals(new.column("terms"))
    assert await tables.read_analyzer_versions() == (ANALYZER_VERSION,)
    answers = await search_all(folder)
    assert [list_paths(answer)[0] for answer in answers[:2]] == list(TEXTS)[:2]
    assert "X041" in answers[2].hits[0].excerpt
    assert list(map(summarize_hits, answers)) == list(map(summarize_hits, await search_all(other)))


async def test_a_second_run_changes_nothing(folder: Location) -> None:
    tables = await make_old(folder)
    assert (await reindex_scope(tables)).renewed > 0
    version = await tables.current.version()
    report = await reindex_scope(tables)
    assert (report.renewed, report.before) == (0, str(ANALYZER_VERSION))
    assert await tables.current.version() == version


async def test_an_interrupted_run_leaves_a_table_that_answers_and_the_next_completes_it(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = await make_old(folder)
    monkeypatch.setattr("publish_knowledge.store.commits.COMMIT_ITEMS", 1)
    whole, written = terms_module._set_terms, 0  # noqa: SLF001 - where a run is interrupted

    async def stop_after_one(tables: ScopeTables, changes: Any) -> None:  # noqa: ANN401 - as the function itself
        nonlocal written
        if written:
            raise KeyboardInterrupt
        written += bool(changes)
        await whole(tables, changes)

    monkeypatch.setattr(terms_module, "_set_terms", stop_after_one)
    with pytest.raises(KeyboardInterrupt):
        await reindex_scope(tables)
    assert await tables.read_analyzer_versions() == (1, ANALYZER_VERSION)
    assert [len(answer.hits) for answer in await search_all(folder)][3:] == [1, 1]
    await put(folder, ANA, "notes", {"projects/apollo/plan.md": "Soon.\n"})
    assert list_paths(await search_scope(folder, ANA, "apollo plan", "lexical"))[0] == "projects/apollo/plan.md"
    monkeypatch.setattr(terms_module, "_set_terms", whole)
    report = await reindex_scope(tables)
    assert (report.before, report.after) == (f"1 {ANALYZER_VERSION}", str(ANALYZER_VERSION))
    assert list_paths((await search_all(folder))[0]) == ["adr/postgres/0007.md"]


async def test_a_publisher_that_started_before_the_renewal_corrects_what_it_wrote(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = await make_old(folder)
    read = ScopeTables.read_analyzer_versions
    answers = iter([(1,)])

    async def read_stale(self: ScopeTables) -> tuple[int, ...]:
        return next(answers, None) or await read(self)

    await reindex_scope(tables)
    monkeypatch.setattr(ScopeTables, "read_analyzer_versions", read_stale)
    await put(folder, ANA, "notes", {"projects/gemini/contacts.md": "Ben.\n"})
    assert list_paths(await search_scope(folder, ANA, "gemini", "lexical")) == ["projects/gemini/contacts.md"]


async def test_publishers_and_a_renewal_at_the_same_time_leave_one_version(folder: Location) -> None:
    tables = await make_old(folder)
    more = [{f"projects/p{n}/note.md": f"Note {n}.\n"} for n in range(8)]

    async def publish_more() -> None:
        for texts in more:
            await put(folder, ANA, "notes", texts)

    await asyncio.gather(publish_more(), reindex_scope(tables))
    report = await reindex_scope(tables)
    assert report.renewed == 0
    for n in range(8):
        assert list_paths(await search_scope(folder, ANA, f"p{n} project", "lexical"))[0] == f"projects/p{n}/note.md"


async def test_an_item_that_is_restored_gets_the_terms_of_the_table(folder: Location) -> None:
    tables = await make_old(folder)
    apollo = item(ANA, "notes", "projects/apollo/contacts.md")
    await run_in_store(folder, archive_item, ANA, apollo)
    await reindex_scope(tables)
    await run_in_store(folder, restore_item, ANA, apollo)
    assert list_paths(await search_scope(folder, ANA, "apollo", "lexical")) == ["projects/apollo/contacts.md"]


async def test_writers_that_never_stop_are_reported(folder: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = await make_old(folder)

    async def change_nothing(_tables: ScopeTables, _changes: Any) -> None:  # noqa: ANN401 - as the function itself
        return None

    monkeypatch.setattr(terms_module, "_set_terms", change_nothing)
    with pytest.raises(StorageUnavailableError, match="again"):
        await reindex_scope(tables)


async def test_every_scope_is_renewed_unless_one_is_named(folder: Location) -> None:
    await make_old(folder)
    await put(folder, BEN, "notes", TEXTS)
    assert [report.scope for report in await run_in_store(folder, reindex_dataset)] == ["owner:ana", "owner:ben"]
    assert [report.scope for report in await run_in_store(folder, reindex_dataset, BEN)] == ["owner:ben"]


async def test_renewed_terms_are_in_the_index(bucket: Location) -> None:
    tables = await make_old(bucket)
    await run_in_store(bucket, reindex_dataset)
    assert (await tables.current.read_health()).unindexed_rows == 0
    assert list_paths(await search_scope(bucket, ANA, "postgres", "lexical")) == ["adr/postgres/0007.md"]


async def test_an_unreadable_passage_has_neither_terms_nor_a_vector_in_any_version(folder: Location) -> None:
    rng = np.random.default_rng(1)
    picture = "".join(chr(97 + n) if n < 26 else str(n % 10) for n in rng.integers(0, 36, 9_000))
    text = f"# Plan\n\nThe plan of the house.\n\n![plan](data:image/png;base64,{picture})\n\nDrawn by Anna.\n"
    for count, version in enumerate(("1", str(ANALYZER_VERSION)), start=1):
        tables = await make_old(folder, {})
        await set_versions(tables, version)
        await put(folder, ANA, "notes", {f"plan{version}.md": text})
        rows = (await read_rows(tables)).to_pylist()
        hidden = [row for row in rows if row["vector"] is None]
        assert len(hidden) == 5 * count
        assert all(row["terms"] is None for row in hidden)
        assert not any("The plan" in row["text"] or "Anna" in row["text"] for row in hidden)
