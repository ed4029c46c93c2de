"""Objects of a bucket: listed as files, fetched where asked for, and refused one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_s3.moto_server import S3Server
from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.files import find_files
from publish_knowledge.sources.remote import buckets
from publish_knowledge.sources.remote.addresses import BucketAddress
from publish_knowledge.sources.remote.buckets import BucketFolder, is_file_path, list_bucket
from tests.support.sources import NAME, BucketSource


@pytest.fixture
def source(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> BucketSource:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return BucketSource(s3_server)


def open_bucket(source: BucketSource, server: S3Server, into: Path) -> BucketFolder:
    return list_bucket(BucketAddress(source.bucket, f"{NAME}/"), into, server.options)


def test_objects_are_files_of_the_folder_that_the_prefix_names(
    source: BucketSource, s3_server: S3Server, tmp_path: Path
) -> None:
    for path in ("a.md", "deep/b.md", "c.png", "deep/"):
        source.write(path, path)
    with s3_server.record_requests() as requests:
        opened = open_bucket(source, s3_server, tmp_path)
    assert [(one.method, "list-type=2" in one.query) for one in requests] == [("GET", True)]
    found = find_files([opened.folder])
    assert [one.path for one in found.files] == [f"{NAME}/a.md", f"{NAME}/deep/b.md"]
    assert [one.path for one in found.passed_over] == [f"{NAME}/c.png"]
    assert opened.fetch([f"{NAME}/a.md", "elsewhere.md"], 100) == {}
    assert (opened.folder / "a.md").read_text() == "a.md"
    assert (opened.folder / "deep/b.md").read_text() == ""


def test_patterns_of_an_ignore_object_hold(source: BucketSource, s3_server: S3Server, tmp_path: Path) -> None:
    for path, text in {"a.md": "a", "drafts/b.md": "b", ".knowledgeignore": "drafts/\n"}.items():
        source.write(path, text)
    found = find_files([open_bucket(source, s3_server, tmp_path).folder])
    assert [one.path for one in found.files] == [f"{NAME}/a.md"]


def test_a_key_that_is_no_path_and_one_that_is_a_folder_are_refused(
    source: BucketSource, s3_server: S3Server, tmp_path: Path
) -> None:
    for path in ("a.md", "a.md/b.md", "x//y.md"):
        source.write(path, "text")
    opened = open_bucket(source, s3_server, tmp_path)
    assert [error.path for error in opened.errors] == [f"{NAME}/a.md/b.md", f"{NAME}/x//y.md"]
    assert [*opened.objects] == [f"{NAME}/a.md"]


@pytest.mark.parametrize("inner", ["../a.md", "a/../b.md", "./a.md", "a//b.md", "/a.md", "a\0.md", "a" * 256])
def test_no_key_leads_out_of_the_folder(inner: str) -> None:
    assert not is_file_path(inner)


def test_an_object_that_is_too_large_changed_or_gone_is_refused_by_name(
    source: BucketSource, s3_server: S3Server, tmp_path: Path
) -> None:
    for path in ("large.md", "changed.md", "gone.md", "good.md"):
        source.write(path, "text" if path != "large.md" else "text" * 100)
    opened = open_bucket(source, s3_server, tmp_path)
    source.write("changed.md", "other")
    source.remove("gone.md")
    failed = opened.fetch([*opened.objects], 100)
    assert {path.rpartition("/")[2] for path in failed} == {"large.md", "changed.md", "gone.md"}
    assert "limit" in failed[f"{NAME}/large.md"].reason
    assert (opened.folder / "good.md").read_text() == "text"


def test_a_listing_that_fails_is_refused_whole(
    source: BucketSource, s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server.answer_with(403), pytest.raises(UnusableFileError, match="cannot be listed"):
        open_bucket(source, s3_server, tmp_path)
    monkeypatch.setattr(buckets, "MAX_OBJECTS", 1)
    source.write("a.md", "a")
    source.write("b.md", "b")
    (tmp_path / "again").mkdir()
    with pytest.raises(UnusableFileError, match="more than 1 objects"):
        open_bucket(source, s3_server, tmp_path / "again")
