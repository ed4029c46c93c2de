"""Addresses of sources: what they name, and what is refused before anything is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish_knowledge.sources.remote.addresses import AddressError, BucketAddress, GitAddress, is_ref, parse_address


@pytest.mark.parametrize(
    ("text", "address", "name"),
    [
        ("s3://docs-bucket", BucketAddress("docs-bucket", ""), "docs-bucket"),
        ("s3://docs-bucket/team/handbook", BucketAddress("docs-bucket", "team/handbook/"), "handbook"),
        ("s3://docs-bucket/team/handbook/", BucketAddress("docs-bucket", "team/handbook/"), "handbook"),
        ("git+file:///srv/docs.git", GitAddress("file:///srv/docs.git", "HEAD", ""), "docs"),
        ("git+https://h.example/a/b@v1.2", GitAddress("https://h.example/a/b", "v1.2", ""), "b"),
        (
            "git+ssh://git@h.example/a/b.git@feature/x#subdirectory=docs/en",
            GitAddress("ssh://git@h.example/a/b.git", "feature/x", "docs/en"),
            "b",
        ),
    ],
)
def test_an_address_names_a_source(text: str, address: BucketAddress | GitAddress, name: str) -> None:
    assert parse_address(text) == address
    assert address.name == name


def test_what_has_no_scheme_is_a_path() -> None:
    assert parse_address("docs/a b@c") == Path("docs/a b@c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s3://", "names no bucket"),
        ("s3:///x", "names no bucket"),
        ("s3://bucket/a//b", "no folder"),
        ("s3://bucket/a/..", "no folder"),
        ("ftp://host/x", "is no source"),
        ("git+ext://sh -c x", "is not read"),
        ("git+http://host/x", "is not read"),
        ("git+git://host/x", "is not read"),
        ("git+https://user:secret@host/x", "credentials"),
        ("git+https://token@host/x", "credentials"),
        ("git+ssh://-oProxyCommand=x/y", "no address"),
        ("git+https://host/x?y", "no address"),
        ("git+https:///x", "names no repository"),
        ("git+file:///", "names no repository"),
        ("git+file:///x@--upload-pack=touch", "no branch"),
        ("git+file:///x@a:b", "no branch"),
        ("git+file:///x@", "no branch"),
        ("git+file:///x#subdirectory=../y", "names no folder"),
        ("git+file:///x#docs", "names no folder"),
    ],
)
def test_other_addresses_are_refused_with_a_remedy(text: str, message: str) -> None:
    with pytest.raises(AddressError, match=message) as caught:
        parse_address(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["main", "v1.2.3", "feature/x", "a" * 40, "refs/heads/main"])
def test_names_of_revisions_are_taken(text: str) -> None:
    assert is_ref(text)


@pytest.mark.parametrize("text", ["", "-x", "--all", "a b", "a..b", "a:b", "a^", "a~1", "*", "a\nb", "a\0b", "a" * 300])
def test_what_git_could_take_for_something_else_is_no_revision(text: str) -> None:
    assert not is_ref(text)
