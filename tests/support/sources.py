"""Sources for tests of synchronization: a folder and a bucket with the same operations, and a Git repository."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Protocol

import boto3

from local_s3.moto_server import S3Server

NAME = "handbook"


class FileSource(Protocol):
    """Texts by path, wherever they are."""

    @property
    def address(self) -> str:
        """As the command line takes it."""

    def write(self, path: str, text: str) -> None:
        """Write or replace a text."""

    def remove(self, path: str) -> None:
        """Remove a text."""


class FolderSource:
    """A folder named `NAME`."""

    def __init__(self, parent: Path) -> None:
        self._folder = parent / NAME
        self._folder.mkdir()

    @property
    def address(self) -> str:
        return str(self._folder)

    def write(self, path: str, text: str) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def remove(self, path: str) -> None:
        (self._folder / path).unlink()


class BucketSource:
    """A prefix named `NAME` of a new bucket on moto's server."""

    def __init__(self, server: S3Server) -> None:
        self.bucket = server.make_bucket()
        options = server.options
        self._client: Any = boto3.client(
            "s3",
            region_name=options["region"],
            endpoint_url=server.endpoint,
            aws_access_key_id=server.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=server.environment["AWS_SECRET_ACCESS_KEY"],
        )

    @property
    def address(self) -> str:
        return f"s3://{self.bucket}/{NAME}"

    def write(self, path: str, text: str) -> None:
        self._client.put_object(Bucket=self.bucket, Key=f"{NAME}/{path}", Body=text.encode())

    def remove(self, path: str) -> None:
        self._client.delete_object(Bucket=self.bucket, Key=f"{NAME}/{path}")


def make_repository(folder: Path, texts: dict[str, str], links: dict[str, str] | None = None) -> Path:
    """A Git repository with one commit, which has the tag `v1`."""
    folder.mkdir()
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for path, target in (links or {}).items():
        (folder / path).symlink_to(target)
    run_git(folder, "init", "--quiet")
    commit_all(folder)
    run_git(folder, "tag", "v1")
    return folder


def commit_all(folder: Path) -> None:
    """Commit what a repository's folder holds now."""
    run_git(folder, "add", "--all")
    run_git(folder, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "change")


def run_git(folder: Path, *arguments: str) -> None:
    """Run git in a folder; it must succeed."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S607
