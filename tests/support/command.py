"""A workspace for tests of the `knowledge` command: a folder of texts, a dataset beside it, and a runner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner, Result

from publish_knowledge.cli.main import knowledge
from publish_knowledge.cli.output import ExitCode

TEXTS: Final = {
    "refunds.md": "# Refunds\n\nRefunds are paid within five working days after the goods have arrived.\n",
    "guide/install.md": "# Install\n\nFetch the package.\n\n## Linux\n\nRun the installer with the usual rights.\n",
    "guide/long.txt": "A sentence about shipping to islands. " * 400,
}
TEAM: Final = ("--team", "support")
BASE: Final = (*TEAM, "--base", "handbook")


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of texts, and the dataset's URI, which the environment has as well."""

    folder: Path
    uri: str

    def run(self, *arguments: str | Path, code: ExitCode = ExitCode.OK) -> Result:
        """Run the command; it must end with the exit code, and without a traceback."""
        result = CliRunner().invoke(knowledge, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str | Path, code: ExitCode = ExitCode.OK) -> Any:  # noqa: ANN401 - a JSON document
        """The document that the command prints with `--json`."""
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def publish(self, *options: str, code: ExitCode = ExitCode.OK) -> Any:  # noqa: ANN401 - as above
        """Publish the folder into the base."""
        return self.json("publish", self.folder, "--root", self.folder, *BASE, *options, code=code)

    def write(self, **files: str | bytes) -> None:
        """Write files by name, with `__` for a slash and `_` for the dot."""
        for name, content in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def item(self, path: str) -> dict[str, Any]:
        """The item published from a path, as `knowledge list` prints it."""
        (found,) = [one for one in self.json("list", *TEAM)["items"] if one["source_path"] == path]
        return dict(found)


def assert_usage_error(workspace: Workspace, arguments: list[str], message: str) -> None:
    """Run a wrong command line, `{docs}` standing for the folder: it is refused with the message, before any work."""
    (workspace.folder / "none").mkdir()
    filled = [argument.replace("{docs}", str(workspace.folder)) for argument in arguments]
    assert message in " ".join(workspace.run(*filled, code=ExitCode.USAGE).stderr.split())
    assert not Path(workspace.uri).exists()
