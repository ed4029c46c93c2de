"""Locations of datasets, on disk and on a moto server in the test process; registered in `tests/conftest.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_s3.moto_server import S3Server
from tests.support.datasets import Location


def new_bucket(server: S3Server) -> Location:
    """The location of a dataset in a new bucket."""
    return Location(f"s3://{server.make_bucket()}/data", server.options)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """One server for the whole session."""
    with S3Server() as server:
        yield server


@pytest.fixture
def bucket(s3_server: S3Server) -> Location:
    """The location of a dataset in a bucket of its own."""
    return new_bucket(s3_server)


@pytest.fixture
def folder(tmp_path: Path) -> Location:
    """The location of a dataset on disk."""
    return Location(str(tmp_path / "data"))


@pytest.fixture(params=["folder", "bucket"])
def location(request: pytest.FixtureRequest) -> Location:
    """The location of a dataset, on disk and on S3 in turn."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Location)
    return found
