"""The question for a later version: one HEAD, and only a clear answer counts."""

from __future__ import annotations

import pytest

from knowledge.store.schema import MARKER_TABLE
from knowledge.store.version_probe import VersionProbe, name_manifest
from local_s3.moto_server import S3Server
from tests.support.datasets import ANA, Location, put
from tests.support.reading import open_handles

pytestmark = pytest.mark.anyio


async def find_version(where: Location) -> int:
    table = await open_handles(where).open_current(ANA, searching=False)
    assert table is not None
    return table.version


async def test_the_latest_version_is_distinguished_from_earlier_ones_by_one_request(
    s3_server: S3Server, bucket: Location
) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    version = await find_version(bucket)
    probe = VersionProbe(bucket.uri, bucket.options)
    with s3_server.record_requests() as requests:
        assert await probe.is_latest(ANA.current_table, version)
        assert not await probe.is_latest(ANA.current_table, version - 1)
    assert [request.method for request in requests] == ["HEAD", "HEAD"]
    await put(bucket, ANA, "notes", {"a.md": "Another text."})
    assert not await probe.is_latest(ANA.current_table, version)


async def test_a_dataset_at_the_top_of_a_bucket_is_asked_too(s3_server: S3Server) -> None:
    where = Location(f"s3://{s3_server.make_bucket()}", s3_server.options)
    await put(where, ANA, "notes", {"a.md": "Text."})
    version = await find_version(where)
    probe = VersionProbe(where.uri, where.options)
    assert (await probe.is_latest(ANA.current_table, version), await probe.is_latest(MARKER_TABLE, 1)) == (True, False)


@pytest.mark.parametrize("status", [301, 400, 403, 405, 500, 503])
async def test_any_other_answer_than_yes_or_no_is_none(s3_server: S3Server, bucket: Location, status: int) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    version = await find_version(bucket)
    with s3_server.answer_with(status):
        assert not await VersionProbe(bucket.uri, bucket.options).is_latest(ANA.current_table, version)


async def test_a_store_out_of_reach_gives_no_answer(s3_server: S3Server, bucket: Location) -> None:
    with s3_server.cut_connections():
        assert not await VersionProbe(bucket.uri, bucket.options).is_latest(ANA.current_table, 1)
    options = {**bucket.options, "endpoint": "http://127.0.0.1:9"}
    assert not await VersionProbe(bucket.uri, options).is_latest(ANA.current_table, 1)


async def test_credentials_are_found_as_the_sdk_finds_them(bucket: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(bucket, ANA, "notes", {"a.md": "Text."})
    version = await find_version(bucket)
    options = {name: value for name, value in bucket.options.items() if not name.startswith("aws_")}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    assert await VersionProbe(bucket.uri, options).is_latest(ANA.current_table, version)


async def test_tables_on_disk_are_not_asked(folder: Location) -> None:
    assert not VersionProbe(folder.uri, {}).is_possible
    assert VersionProbe("s3://bucket/data", {}).is_possible


def test_names_of_manifests_descend() -> None:
    assert name_manifest("t", 1) == "t.lance/_versions/18446744073709551614.manifest"
    assert name_manifest("t", 2**64 - 1) == "t.lance/_versions/00000000000000000000.manifest"
