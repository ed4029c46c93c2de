"""`knowledge sync`: reports, exit codes, and what it never archives."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from local_s3.moto_server import S3Server
from publish_knowledge.cli.output import ExitCode
from tests.support.command import BASE, TEAM, TEXTS, Workspace
from tests.support.sources import BucketSource, make_repository

SYNC = ("sync", *BASE)


def list_published(workspace: Workspace) -> set[str]:
    return {one["source_path"] for one in workspace.json("list", *TEAM)["items"] if one["state"] == "published"}


def test_a_report_has_every_item_and_lines_only_what_was_done(workspace: Workspace) -> None:
    report = workspace.json(*SYNC, workspace.folder)
    assert report["type"] == "knowledge_sync_report"
    assert report["counts"] == {"created": 3, "problems": 0}
    (workspace.folder / "refunds.md").rename(workspace.folder / "returns.md")
    workspace.write(x_png=b"\x89PNG")
    expected = "renamed     docs/returns.md  (It was docs/refunds.md.)\n"
    planned = workspace.run(*SYNC, workspace.folder, "--dry-run")
    assert planned.stdout == f"{expected}Dry run, nothing written: 2 unchanged, 1 renamed.\n"
    done = workspace.run(*SYNC, workspace.folder)
    assert done.stdout == f"{expected}2 unchanged, 1 renamed.\n"
    assert done.stderr.endswith("1 file passed over: 1 .png (--verbose lists them).\n")
    assert (
        len(workspace.json("history", workspace.item("docs/returns.md")["knowledge_item_id"], *TEAM)["revisions"]) == 2
    )


def test_items_of_other_folders_go_too_because_the_base_becomes_equal(workspace: Workspace) -> None:
    workspace.publish()
    report = workspace.json(*SYNC, workspace.folder, "--max-archive", "100")
    assert {one["source_path"]: one["action"] for one in report["items"]} == {
        f"docs/{path}": "renamed" for path in TEXTS
    }
    (workspace.folder.parent / "other").mkdir()
    (workspace.folder.parent / "other/new.md").write_text("# New\n\nNew.\n")
    report = workspace.json(*SYNC, workspace.folder.parent / "other", "--max-archive", "100")
    assert report["counts"] == {"created": 1, "archived": 3, "problems": 0}


def test_too_much_to_archive_ends_with_its_own_code_and_writes_nothing(workspace: Workspace) -> None:
    workspace.json(*SYNC, workspace.folder)
    shutil.rmtree(workspace.folder / "guide")
    workspace.write(new_md="# New\n\nNew.\n")
    result = workspace.run(*SYNC, workspace.folder, code=ExitCode.REFUSED)
    assert "2 of 3 items would be archived" in result.stderr
    assert list_published(workspace) == {f"docs/{path}" for path in TEXTS}


def test_a_source_that_is_not_there_or_empty_archives_nothing(workspace: Workspace, tmp_path: Path) -> None:
    workspace.json(*SYNC, workspace.folder)
    missing = f"git+file://{tmp_path}/none"
    report = workspace.json(*SYNC, workspace.folder, missing, "--max-archive", "100", code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 3, "problems": 1}
    (workspace.folder / "refunds.md").unlink()
    (tmp_path / "empty").mkdir()
    workspace.run(*SYNC, workspace.folder, missing, code=ExitCode.PROBLEMS)
    report = workspace.json(*SYNC, workspace.folder, tmp_path / "empty", code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 2, "kept": 1, "problems": 0}
    assert len(list_published(workspace)) == 3


def test_a_single_file_is_no_source_of_a_base(workspace: Workspace) -> None:
    result = workspace.run(*SYNC, workspace.folder / "refunds.md", code=ExitCode.USAGE)
    assert "whole folders" in result.stderr


def test_a_bucket_that_refuses_archives_nothing_and_unchanged_objects_are_only_listed(
    workspace: Workspace, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    source = BucketSource(s3_server)
    for path, text in TEXTS.items():
        source.write(path, text)
    workspace.json(*SYNC, source.address)
    with s3_server.record_requests() as requests:
        assert workspace.json(*SYNC, source.address)["counts"] == {"unchanged": 3, "problems": 0}
    assert [(one.method, one.path, "list-type=2" in one.query) for one in requests] == [
        ("GET", f"/{source.bucket}", True)
    ]
    with s3_server.answer_with(403):
        report = workspace.json(*SYNC, source.address, "--max-archive", "100", code=ExitCode.PROBLEMS)
    assert "cannot be listed" in report["problems"][0]["reason"]
    source.write("refunds.md", "# Refunds\n\nChanged.\n")
    with s3_server.hook_requests(lambda _method, path: 403 if path.endswith("refunds.md") else None):
        report = workspace.json(*SYNC, source.address, code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 2, "problems": 1}
    assert len(list_published(workspace)) == 3
    assert workspace.json(*SYNC, source.address)["counts"] == {"changed": 1, "unchanged": 2, "problems": 0}


def test_a_repository_is_synchronized_at_a_revision(workspace: Workspace, tmp_path: Path) -> None:
    made = make_repository(tmp_path / "made", {"docs/a.md": "# A\n\nBoats.\n", "b.md": "b"})
    address = f"git+file://{made}@v1#subdirectory=docs"
    assert workspace.json(*SYNC, address)["counts"] == {"created": 1, "problems": 0}
    assert workspace.json(*SYNC, address)["counts"] == {"unchanged": 1, "problems": 0}
    assert list_published(workspace) == {"docs/a.md"}
