"""`knowledge publish`: what happens to each file, and the options."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.publish import choose_exit_code
from publish_knowledge.publishing.plan import Action, ItemOutcome, PublishReport
from publish_knowledge.sources.file_errors import FileError
from publish_knowledge.sources.loading import LoadedFiles
from tests.support.command import BASE, TEAM, TEXTS, Workspace, assert_usage_error


def test_publishing_reports_what_happened_to_every_file(workspace: Workspace) -> None:
    report = workspace.publish()
    assert report["type"] == "knowledge_publish_report"
    assert (report["scope"], report["knowledge_base_id"], report["dry_run"]) == ("team:support", "handbook", False)
    assert report["counts"] == {"created": 3, "problems": 0}
    assert [item["source_path"] for item in report["items"]] == ["guide/install.md", "guide/long.txt", "refunds.md"]
    assert all(item["knowledge_item_id"] and item["knowledge_revision_id"] for item in report["items"])
    assert report["problems"] == []


def test_publishing_again_does_nothing_and_one_edit_is_one_change(published: Workspace) -> None:
    assert published.publish()["counts"] == {"unchanged": 3, "problems": 0}
    published.write(refunds_md="# Refunds\n\nRefunds are paid within ten working days.\n")
    result = published.run("publish", published.folder, "--root", published.folder, *BASE)
    assert result.stdout == "changed     refunds.md\n2 unchanged, 1 changed.\n"
    assert result.stderr == ""


def test_one_file_is_the_item_its_folder_made_with_the_same_root(published: Workspace) -> None:
    file = published.folder / "guide/install.md"
    report = published.json("publish", file, "--root", published.folder, *BASE)
    assert report["counts"] == {"unchanged": 1, "problems": 0}


def test_a_folder_keeps_its_name_and_pruning_stays_inside_it(workspace: Workspace) -> None:
    workspace.json("publish", workspace.folder, *BASE)
    other = workspace.folder.parent / "other"
    other.mkdir()
    (other / "refunds.md").write_text("Other refunds.\n")
    report = workspace.json("publish", other, *BASE, "--prune")
    assert [(one["source_path"], one["action"]) for one in report["items"]] == [("other/refunds.md", "created")]
    name = workspace.folder.name
    listed = {one["source_path"] for one in workspace.json("list", *TEAM)["items"]}
    assert listed == {"other/refunds.md", *(f"{name}/{path}" for path in TEXTS)}


def test_pruning_archives_the_path_of_a_file_that_got_an_id(published: Workspace) -> None:
    published.write(refunds_md="---\nid: refunds\n---\n# Refunds\n\nRefunds are paid.\n")
    published.publish("--prune")
    states = [one["state"] for one in published.json("list", *TEAM)["items"] if one["source_path"] == "refunds.md"]
    assert sorted(states) == ["archived", "published"]


def test_unusable_files_are_reported_and_the_rest_is_published(workspace: Workspace) -> None:
    workspace.write(empty_md="", picture_md=b"\x89PNG", matter_md="---\ntitle: [\n---\nText.\n")
    result = workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE, code=ExitCode.PROBLEMS)
    assert result.stdout.endswith("3 created, 3 left out because of problems.\n")
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["empty.md", "matter.md", "picture.md"]
    report = workspace.publish(code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 3, "problems": 3}
    assert [problem["path"] for problem in report["problems"]] == ["empty.md", "matter.md", "picture.md"]


def test_names_of_files_are_one_visible_line_each(workspace: Workspace) -> None:
    workspace.write(**{"two\nlines.md": "Text.", "esc\x1b[31m.md": "", "c1\x9b.md": "Text."})
    result = workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE, code=ExitCode.PROBLEMS)
    assert result.stdout.splitlines()[:1] + result.stdout.splitlines()[-2:-1] == [
        r"created     c1\x9b.md",
        r"created     two\nlines.md",
    ]
    assert any(line.startswith(r"esc\x1b[31m.md: ") for line in result.stderr.splitlines())
    assert "\x1b" not in result.output
    again = workspace.publish(code=ExitCode.PROBLEMS)
    assert {"c1\x9b.md", "two\nlines.md"} < {one["source_path"] for one in again["items"]}


def test_a_dry_run_reports_and_writes_nothing(workspace: Workspace) -> None:
    result = workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE, "--dry-run")
    assert result.stdout.endswith("Dry run, nothing written: 3 created.\n")
    assert not Path(workspace.uri).exists()


def test_drafts_are_listed_and_cannot_be_read(workspace: Workspace) -> None:
    assert workspace.publish("--draft")["counts"] == {"drafted": 3, "problems": 0}
    listed = workspace.item("refunds.md")
    assert (listed["state"], len(listed["drafts"])) == ("draft", 1)
    workspace.run("read", listed["knowledge_item_id"], *TEAM, code=ExitCode.NOT_FOUND)
    assert "(+1 drafts)" in workspace.run("list", *TEAM).stdout


def test_pruning_archives_missing_files_but_not_unreadable_ones(published: Workspace) -> None:
    (published.folder / "refunds.md").unlink()
    published.write(guide__install_md=b"\xff")
    report = published.publish("--prune", code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 1, "archived": 1, "problems": 1}
    assert published.item("refunds.md")["state"] == "archived"
    assert published.item("guide/install.md")["state"] == "published"


def test_the_language_option_is_for_texts_that_declare_none(workspace: Workspace) -> None:
    workspace.publish("--language", "pt-BR")
    assert workspace.item("refunds.md")["language"] == "pt"


def test_embedding_without_the_cache_leaves_none(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNOWLEDGE_CACHE_DIR", str(tmp_path / "cache"))
    workspace.publish("--no-cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["publish"], "Missing argument"),
        (["publish", "{docs}", *TEAM], "Missing option '--base'"),
        (["publish", "{docs}/nowhere", *BASE], "does not exist"),
        (["publish", "{docs}/none", *BASE], "No .md, .markdown, .mdx, .txt files found"),
        (["publish", "{docs}/refunds.md", *BASE, "--prune"], "--prune needs whole folders"),
        (["publish", "{docs}", *BASE, "--prune", "--draft"], "it cannot --prune"),
        (["publish", "{docs}", *BASE, "--language", "english"], "'english' is not a language code"),
        (["publish", "{docs}", *BASE, "--root", "{docs}/guide"], "does not lie under the root"),
    ],
)
def test_options_that_exclude_each_other_or_find_nothing_are_refused(
    workspace: Workspace, arguments: list[str], message: str
) -> None:
    assert_usage_error(workspace, arguments, message)


def make_outcome(action: Action) -> ItemOutcome:
    return ItemOutcome("a.md", "ki", "kr", action, "why")


@pytest.mark.parametrize(
    ("actions", "problems", "code"),
    [
        (["created"], 0, ExitCode.OK),
        (["created"], 1, ExitCode.PROBLEMS),
        (["refused", "created"], 1, ExitCode.REFUSED),
        (["overwritten", "refused"], 1, ExitCode.OVERWRITTEN),
    ],
)
def test_the_most_serious_outcome_decides_the_exit_code(actions: list[Action], problems: int, code: ExitCode) -> None:
    loaded = LoadedFiles((), (FileError("b.md", "bad"),) * problems)
    assert choose_exit_code(PublishReport(tuple(map(make_outcome, actions))), loaded) == code
