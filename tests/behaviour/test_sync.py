"""Random edits, renames and deletions, with runs interrupted at random: a base always ends equal to its source."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner

from knowledge.embedding.providers import LOCAL_SMALL
from knowledge.scopes import Scope
from knowledge.store.schema import PUBLISHED
from local_s3.moto_server import S3Server
from publish_knowledge.cli.main import knowledge
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.doctor import examine
from publish_knowledge.store.retries import RetryingCaller
from publish_knowledge.store.scope_tables import open_scope
from tests.support.campaign import choose_trials
from tests.support.datasets import Location
from tests.support.sources import NAME, BucketSource, FileSource, FolderSource

T = TypeVar("T")

CHANGES = choose_trials(60, 1_000)
PER_ROUND = 10
FILES = 12
TEAM = Scope("team", "support")


@dataclass(slots=True)
class Model:
    """What the source holds, and which item each of its files must be: `None` for one not known yet."""

    source: FileSource
    dice: random.Random
    texts: dict[str, str] = field(default_factory=dict)
    items: dict[str, str | None] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    numbers: int = 0

    def change(self, touched: set[str]) -> None:
        """One random change, of a path that no other change of this round has touched."""
        free = [path for path in sorted(self.texts) if path not in touched]
        kind = self.dice.choice(["create", "edit", "rename", "rename", "delete"])
        path = self.pick_new_path(touched) if kind == "create" or len(free) < 3 else self.dice.choice(free)
        touched.add(path)
        if path not in self.texts:
            self.write(path, None)
        elif kind == "edit":
            self.write(path, self.items[path])
        elif kind == "delete":
            self.remove(path)
        else:
            target = self.pick_new_path(touched)
            touched.add(target)
            self.source.write(target, self.texts[path])
            self.texts[target], self.items[target] = self.texts[path], self.items[path]
            self.count(self.items[path])
            self.remove(path)

    def pick_new_path(self, touched: set[str]) -> str:
        """A path without a file: often one that had a file in an earlier round."""
        while True:
            path = f"{self.dice.choice(('a', 'b', 'a/deep'))}/{self.dice.randrange(3 * FILES)}.md"
            if path not in self.texts and path not in touched:
                return path

    def write(self, path: str, item: str | None) -> None:
        self.numbers += 1
        self.texts[path] = f"# Page {self.numbers}\n\nThe text numbered {self.numbers}.\n"
        self.items[path] = item
        self.count(item)
        self.source.write(path, self.texts[path])

    def count(self, item: str | None) -> None:
        if item is not None:
            self.revisions[item] += 1

    def remove(self, path: str) -> None:
        self.source.remove(path)
        del self.texts[path], self.items[path]


@contextmanager
def interrupt_at(number: int) -> Iterator[None]:
    """Interrupt the command before its n-th call of the storage library."""
    original, calls = RetryingCaller.run, 0

    async def run(self: RetryingCaller, call: Callable[[], Awaitable[T]]) -> T:
        nonlocal calls
        calls += 1
        if calls >= number:
            raise KeyboardInterrupt
        return await original(self, call)

    RetryingCaller.run = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        RetryingCaller.run = original  # type: ignore[method-assign]


def run_sync(model: Model) -> int:
    arguments = ["sync", model.source.address, "--team", TEAM.id, "--base", "notes", "--max-archive", "100", "--json"]
    return CliRunner().invoke(knowledge, arguments).exit_code


async def assert_equal(where: Location, model: Model) -> None:
    """The published items are the files, and each is the item that it has to be, with as many revisions."""
    async with where.store() as store:
        assert await examine(store) == ()
        tables = await open_scope(store, TEAM)
        assert tables is not None
        heads = [head for head in await tables.list_heads("notes") if head.state == PUBLISHED]
        published = {head.info.source_uri: head for head in heads}
        assert len(published) == len(heads)
        wanted = {f"{NAME}/{path}": hashlib.sha256(text.encode()).hexdigest() for path, text in model.texts.items()}
        assert {path: head.info.content_sha256 for path, head in published.items()} == wanted
        counted: dict[str, int] = {}
        for row in await tables.list_history(None):
            counted[row.item_id] = counted.get(row.item_id, 0) + 1
    for path, item in model.items.items():
        found = published[f"{NAME}/{path}"].item_id
        assert item in (None, found)
        # An item that comes back at its old path goes on with the history that it had.
        model.revisions[found] = counted[found] if item is None else model.revisions[found]
        model.items[path] = found
        assert counted[found] == model.revisions[found]


@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_a_base_ends_equal_to_its_source_and_renamed_files_keep_their_items(
    kind: str, s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path_factory.mktemp(kind)
    where = Location(str(place / "data"))
    environment: dict[str, Any] = {
        "LANCEDB_URI": where.uri,
        "EMBEDDING": LOCAL_SMALL,
        "KNOWLEDGE_CACHE_DIR": str(place),
    }
    for name, value in {**environment, **s3_server.environment}.items():
        monkeypatch.setenv(name, value)
    dice = random.Random(2026)
    model = Model(FolderSource(place) if kind == "folder" else BucketSource(s3_server), dice)
    for number in range(FILES):
        model.write(f"a/{number}.md", None)
    assert run_sync(model) == ExitCode.OK
    asyncio.run(assert_equal(where, model))
    interrupted = 0
    for _ in range(CHANGES // PER_ROUND):
        touched: set[str] = set()
        for _ in range(PER_ROUND):
            model.change(touched)
        while dice.random() < 0.6:
            with interrupt_at(dice.randrange(1, 40)):
                interrupted += run_sync(model) == ExitCode.INTERRUPTED
        assert run_sync(model) == ExitCode.OK
        asyncio.run(assert_equal(where, model))
    assert interrupted > 0


OBJECTS = choose_trials(200, 1_000)


def test_a_second_sync_of_unchanged_objects_makes_only_listing_requests(
    s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path_factory.mktemp("unchanged")
    environment = {"LANCEDB_URI": str(place / "data"), "EMBEDDING": LOCAL_SMALL, "KNOWLEDGE_CACHE_DIR": str(place)}
    for name, value in {**environment, **s3_server.environment}.items():
        monkeypatch.setenv(name, value)
    model = Model(BucketSource(s3_server), random.Random(1))
    for number in range(OBJECTS):
        model.write(f"{number}.md", None)
    with s3_server.record_requests() as first:
        assert run_sync(model) == ExitCode.OK
    assert len(first) == OBJECTS + 1
    with s3_server.record_requests() as requests:
        assert run_sync(model) == ExitCode.OK
    assert {(one.method, "list-type=2" in one.query) for one in requests} == {("GET", True)}
    assert len(requests) == 1
