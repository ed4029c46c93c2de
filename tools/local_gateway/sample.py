"""The sample knowledge base of `examples/`, published by the real `knowledge` command."""

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

Say = Callable[[str], None]


class SampleError(RuntimeError):
    """The `knowledge` command failed; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Base:
    """One base of the sample: its folder, and whose it is, as options of the command."""

    folder: Path
    owner: tuple[str, str]
    base_id: str

    @property
    def options(self) -> tuple[str, ...]:
        """What names this base on the command line."""
        return (*self.owner, "--base", self.base_id)

    @property
    def title(self) -> str:
        """The base as a person may read it."""
        kind, identity = self.owner
        return f"{kind.strip('-')} {identity}, base {self.base_id}"


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample base in one dataset. `publish` and `revise` take their steps from the manifest, in its order."""

    uri: str
    embedding: str
    examples: Path = EXAMPLES
    say: Say = field(default=lambda _line: None)

    def publish(self) -> None:
        """Publish all documents at their first revision, then the drafts, then archive what is to be archived."""
        drafts, archived = self._list_files("draft"), self._list_files("archive")
        for base in self.bases():
            texts = sorted(path for path in base.folder.rglob("*") if path.is_file())
            self._publish(base, base.folder, [path for path in texts if path not in drafts])
            self._publish(base, base.folder, [path for path in texts if path in drafts], "--draft")
            for path in (path for path in texts if path in archived):
                name = path.relative_to(base.folder).as_posix()
                self.run("archive", *base.options, "--path", name)
                self.say(f"{base.title}: {name} archived.")

    def revise(self) -> None:
        """Publish the later revisions."""
        for base in self.bases():
            later = self.examples / "revisions" / base.folder.name
            self._publish(base, later, [path for path in self._list_files("revise") if path.is_relative_to(later)])

    def bases(self) -> Iterator[Base]:
        """The bases; each is named after the one folder that its documents lie in."""
        for entry in self._manifest["bases"]:
            folder = self.examples / entry["folder"]
            ((kind, identity),) = entry["scope"].items()
            (only,) = folder.iterdir()
            yield Base(folder, (f"--{kind}", identity), only.name)

    def items(self, base: Base) -> dict[str, dict[str, Any]]:
        """What `knowledge list` says of each item, by source path."""
        found = json.loads(self.run("list", *base.options, "--json"))["items"]
        return {item["source_path"]: item for item in found}

    def revisions(self, base: Base, item_id: str) -> list[str]:
        """Ids of an item's revisions, latest first."""
        found = json.loads(self.run("history", item_id, *base.owner, "--json"))["revisions"]
        return [revision["knowledge_revision_id"] for revision in found]

    def run(self, *arguments: str) -> str:
        """Run the `knowledge` command on this dataset; its standard output. Raises `SampleError`."""
        options = ("--uri", self.uri, "--embedding", self.embedding)
        command = [sys.executable, "-m", "publish_knowledge.cli.main", *arguments, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        if done.returncode:
            raise SampleError(f"knowledge {arguments[0]} ended with {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def _publish(self, base: Base, root: Path, texts: Sequence[Path], *options: str) -> None:
        if texts:
            reported = self.run("publish", *map(str, texts), "--root", str(root), *base.options, *options)
            self.say(f"{base.title}: {reported.splitlines()[-1]}")

    def _list_files(self, key: str) -> list[Path]:
        return [self.examples / name for name in self._manifest[key]]

    @property
    def _manifest(self) -> Mapping[str, Any]:
        manifest: Mapping[str, Any] = json.loads((self.examples / MANIFEST).read_text(encoding="utf-8"))
        return manifest
