"""Sources on the command line of `knowledge publish`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from local_s3.moto_server import S3Server
from publish_knowledge.cli.main import knowledge
from publish_knowledge.cli.output import ExitCode
from tests.support.command import BASE, Workspace
from tests.support.sources import BucketSource, make_repository


def test_standard_input_becomes_an_item(workspace: Workspace) -> None:
    arguments = ["publish", "-", "--name", "notes/today.md", *BASE]
    result = CliRunner().invoke(knowledge, arguments, input="# Today\n\nBoats.\n")
    assert (result.exit_code, result.stdout) == (0, "created     notes/today.md\n1 created.\n")
    assert workspace.item("notes/today.md")["title"] == "Today"


def test_what_can_be_reached_is_published_and_the_rest_is_reported(
    workspace: Workspace, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    bucket = BucketSource(s3_server)
    bucket.write("a.md", "# A\n\nFrom the bucket.\n")
    made = make_repository(tmp_path / "made", {"b.md": "# B\n\nFrom the repository.\n"})
    missing = f"git+file://{tmp_path}/none"
    report = workspace.json(
        *("publish", bucket.address, f"git+file://{made}@v1", missing, "s3://no-such-bucket-here", *BASE),
        code=ExitCode.PROBLEMS,
    )
    assert {one["source_path"]: one["action"] for one in report["items"]} == {
        "handbook/a.md": "created",
        "made/b.md": "created",
    }
    assert [one["path"] for one in report["problems"]] == [f"{missing}@HEAD", "s3://no-such-bucket-here/"]


def test_a_wrong_source_is_a_usage_error(workspace: Workspace, tmp_path: Path) -> None:
    made = make_repository(tmp_path / "made", {"b.md": "b"})
    for arguments, message in (
        (["git+http://host/x"], "is not read"),
        (["-"], "--name notes/today.md"),
        ([f"git+file://{made}", "--root", str(tmp_path)], "--root is for folders"),
        ([str(workspace.folder / "refunds.md"), "--prune"], "--prune needs whole folders"),
    ):
        assert message in workspace.run("publish", *arguments, *BASE, code=ExitCode.USAGE).stderr
