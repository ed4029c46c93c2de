"""Publish the sample knowledge base of `examples/` with the real `knowledge` command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
MANIFEST: Final = "manifest.json"
DEMO_QUERIES: Final = "demo_queries.json"

Report = Callable[[str], None]


class SampleError(RuntimeError):
    """The `knowledge` command failed; the message has its output."""


@dataclass(frozen=True, slots=True)
class Base:
    """One base of the sample: its folder, and its owner as an option of the command."""

    folder: Path
    owner: tuple[str, str]
    base_id: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options that name this base on the command line."""
        return (*self.owner, "--base", self.base_id)

    @property
    def title(self) -> str:
        """The base in words, for progress messages."""
        kind, identity = self.owner
        return f"{kind.strip('-')} {identity}, base {self.base_id}"


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample base in one dataset. `publish` and `revise` do what the manifest says, in its order."""

    uri: str
    embedding: str
    examples: Path = EXAMPLES
    report: Report = field(default=lambda _line: None)

    def publish(self) -> None:
        """Publish the first revision of all documents, then the drafts, then archive the items named for that."""
        drafts, archived = self._list_files("draft"), self._list_files("archive")
        for base in self.read_bases():
            texts = sorted(path for path in base.folder.rglob("*") if path.is_file())
            self._publish(base, base.folder, [path for path in texts if path not in drafts])
            self._publish(base, base.folder, [path for path in texts if path in drafts], "--draft")
            for path in (path for path in texts if path in archived):
                name = path.relative_to(base.folder).as_posix()
                self.run("archive", *base.options, "--path", name)
                self.report(f"{base.title}: {name} archived.")

    def revise(self) -> None:
        """Publish the later revisions."""
        for base in self.read_bases():
            later = self.examples / "revisions" / base.folder.name
            self._publish(base, later, [path for path in self._list_files("revise") if path.is_relative_to(later)])

    def read_bases(self) -> Iterator[Base]:
        """Yield the bases; each is named after the one folder that has its documents."""
        for entry in self._manifest["bases"]:
            folder = self.examples / entry["folder"]
            ((kind, identity),) = entry["scope"].items()
            (only,) = folder.iterdir()
            yield Base(folder, (f"--{kind}", identity), only.name)

    def list_items(self, base: Base) -> dict[str, dict[str, Any]]:
        """Return the items that `knowledge list` prints, by source path."""
        found = json.loads(self.run("list", *base.options, "--json"))["items"]
        return {item["source_path"]: item for item in found}

    def list_revisions(self, base: Base, item_id: str) -> list[str]:
        """Return the ids of an item's revisions, latest first."""
        found = json.loads(self.run("history", item_id, *base.owner, "--json"))["revisions"]
        return [revision["knowledge_revision_id"] for revision in found]

    def run(self, *arguments: str) -> str:
        """Run the `knowledge` command on this dataset and return its standard output; raises `SampleError`."""
        options = ("--uri", self.uri, "--embedding", self.embedding)
        command = [sys.executable, "-m", "publish_knowledge.cli.main", *arguments, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        if done.returncode:
            raise SampleError(f"knowledge {arguments[0]} ended with {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def _publish(self, base: Base, root: Path, texts: Sequence[Path], *options: str) -> None:
        if texts:
            reported = self.run("publish", *map(str, texts), "--root", str(root), *base.options, *options)
            self.report(f"{base.title}: {reported.splitlines()[-1]}")

    def _list_files(self, key: str) -> list[Path]:
        return [self.examples / name for name in self._manifest[key]]

    @property
    def _manifest(self) -> Mapping[str, Any]:
        manifest: Mapping[str, Any] = json.loads((self.examples / MANIFEST).read_text(encoding="utf-8"))
        return manifest
