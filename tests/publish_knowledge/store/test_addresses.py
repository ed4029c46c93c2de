"""Addresses that may not become a dataset, on disk and on S3."""

from __future__ import annotations

import asyncio
from pathlib import Path

import boto3
import pytest

from knowledge.errors import StorageUnavailableError
from publish_knowledge.store.addresses import refuse_other_files
from publish_knowledge.store.marker import dataset_exists
from tests.support.datasets import Location


def refuse(location: Location) -> None:
    asyncio.run(refuse_other_files(location.uri, location.options))


@pytest.mark.parametrize("name", ["readme.txt", "docs/a.md", ".env", "a.lance.bak"])
def test_a_folder_with_other_files_is_refused_by_their_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(StorageUnavailableError, match=rf"holds other files \('{name.partition('/')[0]}'\)"):
        refuse(Location(str(tmp_path)))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    with pytest.raises(StorageUnavailableError, match="is a file, not a folder"):
        refuse(Location(str(tmp_path / "a.md")))


def test_a_folder_that_is_new_or_empty_but_for_what_systems_add_is_accepted(tmp_path: Path) -> None:
    refuse(Location(str(tmp_path / "missing" / "deeper")))
    for name in (".DS_Store", ".gitkeep", "Thumbs.db"):
        (tmp_path / name).touch()
    (tmp_path / "search_knowledge_dataset.lance").mkdir()
    refuse(Location(str(tmp_path)))


def test_many_files_are_named_by_three(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(StorageUnavailableError) as caught:
        refuse(Location(str(tmp_path)))
    assert caught.value.message.count(".txt") == 3


def put_object(location: Location, name: str, key: str) -> None:
    options = location.options
    client = boto3.client(
        "s3",
        endpoint_url=options["endpoint"],
        region_name=options["region"],
        aws_access_key_id=options["aws_access_key_id"],
        aws_secret_access_key=options["aws_secret_access_key"],
    )
    client.put_object(Bucket=name, Key=key, Body=b"x")


def test_a_prefix_with_other_objects_is_refused_and_one_beside_others_is_not(
    bucket: Location,
) -> None:
    name = bucket.uri.removeprefix("s3://").partition("/")[0]
    put_object(bucket, name, "other/report.pdf")
    for taken, shown in ((f"s3://{name}/other", "report.pdf"), (f"s3://{name}", "other")):
        location = Location(taken, bucket.options)
        with pytest.raises(StorageUnavailableError, match=shown):
            refuse(location)

    async def exists() -> bool:
        async with bucket.store() as store:
            return await dataset_exists(store)

    assert not asyncio.run(exists())
