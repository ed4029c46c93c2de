"""What the storage library really raises is mapped; programming errors pass."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knowledge.errors import DatasetMismatchError, KnowledgeError, StorageUnavailableError
from knowledge.store.faults import MissingTableError, StaleVersionError, damaged_values, storage_faults
from knowledge.store.lance import AsyncTable, any_term, col, connect, fetch_rows, lit
from local_s3.moto_server import S3Server
from tests.support.datasets import ANA, Location, build

ROWS = {f"{number}.md": f"Valve {number} of the pump." for number in range(9)}


async def read_rows(where: Location, name: str = ANA.current_table) -> pa.Table:
    table = await (await connect(where.uri, where.options)).open_table(name)
    return await fetch_rows(table.query().select(["text"]))


def fault_of(work: Callable[[], Awaitable[object]]) -> BaseException:
    """The error that a piece of work ends with under `storage_faults`."""

    async def run_guarded() -> None:
        with storage_faults():
            await work()

    with pytest.raises((KnowledgeError, MissingTableError)) as caught:
        asyncio.run(run_guarded())
    assert caught.value.__cause__ is not None
    return caught.value


def data_file(where: Location) -> Path:
    return next((Path(where.uri) / f"{ANA.current_table}.lance" / "data").iterdir())


QUERIES: dict[str, Callable[[AsyncTable], Awaitable[object]]] = {
    "an unknown column in a filter": lambda table: fetch_rows(table.query().where(col("nope") == lit(1))),
    "a filter that is no SQL": lambda table: table.query().where("((").to_arrow(),
    "a filter of the wrong type": lambda table: fetch_rows(table.query().where(col("text") == lit(1))),
    "an unknown column to select": lambda table: fetch_rows(table.query().select(["nope"])),
    "a vector of another length": lambda table: fetch_rows(table.query().nearest_to([0.5, 0.5, 0.5])),
    "a full-text query on an unknown column": lambda table: fetch_rows(
        table.query().nearest_to_text(any_term("valv", "nope"))
    ),
    "a version that never was": lambda table: table.checkout(10**9),
    "an index that is not there": lambda table: table.prewarm_index("nope"),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_that_the_library_refuses_is_mapped(folder: Location, name: str) -> None:
    build(folder, {(ANA, "notes"): ROWS})

    async def ask() -> object:
        table: Any = await (await connect(folder.uri, {})).open_table(ANA.current_table)
        return await QUERIES[name](table)

    assert isinstance(fault_of(ask), StorageUnavailableError)


def test_a_missing_table_is_recognized_on_disk_and_on_s3(location: Location) -> None:
    build(location, {(ANA, "notes"): ROWS})
    assert isinstance(fault_of(lambda: read_rows(location, "nope")), MissingTableError)


def test_a_missing_file_means_that_the_version_was_cleaned_away(folder: Location) -> None:
    build(folder, {(ANA, "notes"): ROWS})
    data_file(folder).unlink()
    assert isinstance(fault_of(lambda: read_rows(folder)), StaleVersionError)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda data: data[: len(data) // 2],
    "empty": lambda _data: b"",
    "all zeros": lambda data: bytes(len(data)),
    "without its end": lambda data: data[:-1],
    "with another end": lambda data: data[:-40] + bytes(40),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_data_file_is_an_outage_and_no_reason_to_read_again(folder: Location, damage: str) -> None:
    build(folder, {(ANA, "notes"): ROWS})
    path = data_file(folder)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert type(fault_of(lambda: read_rows(folder))) is StorageUnavailableError


@pytest.mark.parametrize("damage", ["cut in half", "all zeros"])
def test_a_damaged_manifest_is_mapped(folder: Location, damage: str) -> None:
    build(folder, {(ANA, "notes"): ROWS})
    for path in (Path(folder.uri) / f"{ANA.current_table}.lance" / "_versions").glob("*.manifest"):
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert isinstance(fault_of(lambda: read_rows(folder)), StorageUnavailableError)


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 403, 500, 503])
def test_an_answer_of_the_store_that_is_an_error_is_an_outage(
    s3_server: S3Server, bucket: Location, status: int
) -> None:
    build(bucket, {(ANA, "notes"): ROWS})
    with s3_server.answer_with(status):
        assert type(fault_of(lambda: read_rows(bucket))) is StorageUnavailableError


@pytest.mark.slow
def test_a_store_that_is_not_there_is_an_outage(s3_server: S3Server, bucket: Location) -> None:
    build(bucket, {(ANA, "notes"): ROWS})
    with s3_server.cut_connections():
        assert type(fault_of(lambda: read_rows(bucket))) is StorageUnavailableError
    dead = Location(bucket.uri, {**bucket.options, "endpoint": "http://127.0.0.1:9", "client_max_retries": "0"})
    assert type(fault_of(lambda: read_rows(dead))) is StorageUnavailableError


@pytest.mark.parametrize(
    ("uri", "options"),
    [
        ("weird://x", {}),
        ("db://x", {}),
        ("s3://bucket/data", {"timeout": "never"}),
        ("az://bucket/data", {}),
    ],
)
def test_an_address_or_option_that_the_library_does_not_know_is_an_outage(uri: str, options: dict[str, str]) -> None:
    assert type(fault_of(lambda: read_rows(Location(uri, options)))) is StorageUnavailableError


@pytest.mark.slow
def test_a_missing_bucket_is_an_outage_or_has_no_tables(bucket: Location) -> None:
    found = fault_of(lambda: read_rows(Location("s3://no-such-bucket/data", bucket.options)))
    assert not isinstance(found, StaleVersionError)


def test_errors_of_arrow_and_of_the_system_are_outages() -> None:
    async def unequal_types() -> None:
        pa.scalar("a", pa.int64())

    async def takes_too_long() -> None:
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)

    for work in (unequal_types, takes_too_long):
        assert type(fault_of(work)) is StorageUnavailableError
    with pytest.raises(StorageUnavailableError), storage_faults():
        Path("/").read_bytes()


def test_errors_of_the_project_keep_their_kind() -> None:
    with pytest.raises(DatasetMismatchError), storage_faults():
        raise DatasetMismatchError("Another model.")


MISTAKES: dict[str, Callable[[], object]] = {
    "a wrong type": lambda: len(3),  # type: ignore[arg-type]  # the mistake
    "a missing key": lambda: dict[str, str]()["key"],
    "a missing position": lambda: list[str]()[0],
    "a missing attribute": lambda: getattr(None, "strip"),  # noqa: B009 - the mistake, hidden from the type checker
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_programming_errors_pass(mistake: str) -> None:
    with pytest.raises((TypeError, LookupError, AttributeError)), storage_faults():
        MISTAKES[mistake]()


class RustPanic(Exception):  # noqa: N818 - the library's name
    """A panic, of the library's name; its own class cannot be imported."""


def test_a_panic_of_the_library_is_an_outage() -> None:
    with pytest.raises(StorageUnavailableError), storage_faults():
        raise RustPanic("rust future panicked: unknown error")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_stored_values_that_cannot_be_parsed_are_an_outage(mistake: str) -> None:
    with pytest.raises(StorageUnavailableError), damaged_values():
        MISTAKES[mistake]()


def test_cancelling_passes() -> None:
    with pytest.raises(asyncio.CancelledError), storage_faults():
        raise asyncio.CancelledError
