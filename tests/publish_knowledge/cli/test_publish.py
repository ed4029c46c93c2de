"""`knowledge publish`: what happens to each file, and the options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.publish import choose_exit_code
from publish_knowledge.publishing.plan import Action, ItemOutcome, PublishReport
from publish_knowledge.sources.file_errors import FileError
from publish_knowledge.sources.loading import LoadedFiles
from tests.support.command import BASE, TEAM, TEXTS, Workspace, assert_usage_error
from tests.support.conversions import FILES


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
    *reported, new = result.stderr.splitlines()
    assert [line.partition(":")[0] for line in reported] == ["empty.md", "matter.md", "picture.md"]
    assert new.startswith("There is no dataset at ")
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


def test_a_publish_without_pruning_hints_at_files_that_are_gone(published: Workspace) -> None:
    (published.folder / "refunds.md").unlink()
    arguments = ("publish", published.folder, "--root", published.folder, *BASE)
    hint = "1 item is still published although the file is gone: refunds.md. Add --prune to archive what is gone.\n"
    for option in ("--dry-run", "--cache"):
        assert published.run(*arguments, option).stderr == hint
    assert published.publish()["gone"] == ["refunds.md"]
    assert published.run(*arguments, "--prune").stderr == ""
    assert published.run(*arguments).stderr == ""
    assert published.run("publish", published.folder / "guide/long.txt", "--root", published.folder, *BASE).stderr == ""


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
        (["publish", "{docs}/none", *BASE], "No .md, .markdown, .mdx, .txt, .html,"),
        (["publish", "{docs}/refunds.md", *BASE, "--prune"], "--prune needs whole folders"),
        (["publish", "{docs}", *BASE, "--prune", "--draft"], "it cannot --prune"),
        (["publish", "{docs}", *BASE, "--language", "english"], "'english' is not a language code"),
        (["publish", "{docs}", *BASE, "--root", "{docs}/guide"], "does not lie under the root"),
        (["publish", "{docs}", *BASE, "--exclude", "!"], "is not a pattern of gitignore's syntax"),
        (["publish", "{docs}", *BASE, "--include", "*.zip"], "3 files passed over"),
    ],
)
def test_options_that_exclude_each_other_or_find_nothing_are_refused(
    workspace: Workspace, arguments: list[str], message: str
) -> None:
    assert_usage_error(workspace, arguments, message)


def publish_in(workspace: Workspace, *options: str | Path, code: ExitCode = ExitCode.OK) -> dict[str, str]:
    """What happened to each path; `options` begin with what is published, relative to the workspace's folder."""
    paths = [workspace.folder / option if isinstance(option, Path) else option for option in options]
    report = workspace.json("publish", *paths, *BASE, code=code)
    return {one["source_path"]: one["action"] for one in report["items"]}


def list_states(workspace: Workspace) -> dict[str, str]:
    return {one["source_path"]: one["state"] for one in workspace.json("list", *TEAM)["items"]}


def test_links_that_lead_outside_are_errors_and_nothing_of_them_is_found(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("The key is xyzzy.\n")
    for name, target in (("notes.md", "../credentials"), ("env.txt", "/proc/self/environ")):
        (workspace.folder / name).symlink_to(os.path.relpath(tmp_path / target.removeprefix("../"), workspace.folder))
    report = workspace.publish(code=ExitCode.PROBLEMS)
    assert [problem["path"] for problem in report["problems"]] == ["env.txt", "notes.md"]
    assert "xyzzy" not in workspace.run("search", "xyzzy key credentials", *TEAM).stdout


@pytest.mark.parametrize("target", ["{folder}/elsewhere", "elsewhere", "/nowhere"])
def test_pruning_keeps_what_is_below_a_folder_that_has_become_a_link(published: Workspace, target: str) -> None:
    published.write(stays_md="A text that stays.\n")
    (published.folder / "refunds.md").unlink()
    moved = published.folder / "elsewhere" if target == "elsewhere" else published.folder.parent / "elsewhere"
    (published.folder / "guide").rename(moved)
    (published.folder / "guide").symlink_to(target.format(folder=published.folder.parent))
    report = published.publish("--prune", code=ExitCode.PROBLEMS)
    actions = {one["source_path"]: one["action"] for one in report["items"]}
    assert actions["refunds.md"] == "archived"
    assert actions["guide/install.md"] == actions["guide/long.txt"] == "kept"
    assert "guide" in [problem["path"] for problem in report["problems"]]
    assert list_states(published)["guide/install.md"] == "published"


def test_pruning_keeps_what_is_below_a_folder_that_cannot_be_listed(
    published: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    inode = (published.folder / "guide").stat().st_ino
    real_scandir = os.scandir

    def scan(handle: Any) -> object:  # noqa: ANN401 - a path or a handle
        if isinstance(handle, int) and os.fstat(handle).st_ino == inode:
            raise PermissionError(13, "Permission denied")
        return real_scandir(handle)

    monkeypatch.setattr(os, "scandir", scan)
    report = published.publish("--prune", code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 1, "kept": 2, "problems": 1}
    assert report["problems"][0]["path"] == "guide"
    assert set(list_states(published).values()) == {"published"}


def test_pruning_does_not_take_an_empty_folder_for_proof(published: Workspace) -> None:
    other = published.folder.parent / "other"
    other.mkdir()
    (other / "a.md").write_text("Other text.\n")
    publish_in(published, published.folder, other)
    (other / "a.md").unlink()
    report = published.json("publish", published.folder, other, *BASE, "--prune", code=ExitCode.PROBLEMS)
    assert [problem["path"] for problem in report["problems"]] == ["other"]
    assert list_states(published)["other/a.md"] == "published"
    assert_refused_without_files(published, other)


def assert_refused_without_files(workspace: Workspace, folder: Path) -> None:
    workspace.run("publish", folder, *BASE, "--prune", code=ExitCode.USAGE)
    assert list_states(workspace)["other/a.md"] == "published"


def test_pruning_keeps_what_the_defaults_leave_out_and_archives_what_a_pattern_does(published: Workspace) -> None:
    published.write(build__a_md="Built text.\n")
    published.publish("--include", "build/", "--include", "*")
    assert list_states(published)["build/a.md"] == "published"
    report = published.publish("--prune", "--exclude", "guide/", code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 1, "archived": 2, "kept": 1, "problems": 0}
    assert list_states(published) == {
        "build/a.md": "published",
        "guide/install.md": "archived",
        "guide/long.txt": "archived",
        "refunds.md": "published",
    }


def test_pruning_leaves_alone_what_an_include_does_not_match(published: Workspace) -> None:
    (published.folder / "refunds.md").unlink()
    (published.folder / "guide/long.txt").unlink()
    report = published.publish("--prune", "--include", "guide/")
    assert report["counts"] == {"unchanged": 1, "archived": 1, "problems": 0}
    assert list_states(published)["refunds.md"] == "published"


def write_claims(workspace: Workspace, *paths: str) -> None:
    for path in paths:
        file = workspace.folder.parent / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"---\nid: refunds\n---\nRefunds as {path} says.\n")


def test_an_id_of_another_folder_is_refused_while_its_file_may_stand(workspace: Workspace) -> None:
    write_claims(workspace, "docs1/refunds.md", "es/refunds.md")
    docs, es = workspace.folder.parent / "docs1", workspace.folder.parent / "es"
    assert publish_in(workspace, docs) == {"docs1/refunds.md": "created"}
    report = workspace.json("publish", es, *BASE, code=ExitCode.REFUSED)
    (refused,) = report["items"]
    assert refused["action"] == "refused"
    assert "was published from docs1/refunds.md" in refused["detail"]
    assert "--ids path" in refused["detail"]
    assert publish_in(workspace, es / "refunds.md", "--draft", code=ExitCode.REFUSED) == {"es/refunds.md": "refused"}
    assert publish_in(workspace, es, "--dry-run", code=ExitCode.REFUSED) == {"es/refunds.md": "refused"}
    assert workspace.item("docs1/refunds.md")["state"] == "published"
    report = workspace.json("publish", docs, es, *BASE, "--prune", code=ExitCode.PROBLEMS)
    assert [problem["path"] for problem in report["problems"]] == ["docs1/refunds.md", "es/refunds.md"]
    assert all("--ids path" in problem["reason"] for problem in report["problems"])
    assert publish_in(workspace, docs, es, "--ids", "path") == {
        "docs1/refunds.md": "unchanged",
        "es/refunds.md": "created",
    }


def test_an_id_moves_with_its_file_where_the_old_place_is_seen_to_be_empty(workspace: Workspace) -> None:
    write_claims(workspace, "docs1/refunds.md", "docs1/other/keep.md".replace("other/", ""), "es/x.md")
    docs, es = workspace.folder.parent / "docs1", workspace.folder.parent / "es"
    (docs / "keep.md").write_text("Stays.\n")
    (es / "x.md").write_text("Stays.\n")
    publish_in(workspace, docs)
    (docs / "refunds.md").rename(docs / "renamed.md")
    assert publish_in(workspace, docs)["docs1/renamed.md"] == "changed"
    (docs / "renamed.md").rename(docs / "Renamed.md")
    assert publish_in(workspace, docs / "Renamed.md") == {"docs1/Renamed.md": "changed"}
    (docs / "Renamed.md").rename(es / "refunds.md")
    assert publish_in(workspace, es, code=ExitCode.REFUSED)["es/refunds.md"] == "refused"
    assert publish_in(workspace, docs, es)["es/refunds.md"] == "changed"
    write_claims(workspace, "docs1/again.md")
    assert publish_in(workspace, docs, code=ExitCode.REFUSED)["docs1/again.md"] == "refused"
    workspace.run("archive", "--item", workspace.item("es/refunds.md")["knowledge_item_id"], *TEAM)
    assert publish_in(workspace, docs)["docs1/again.md"] == "changed"


def test_drafts_by_front_matter_are_drafted_beside_published_files_and_say_so(workspace: Workspace) -> None:
    workspace.write(refunds_md="---\ndraft: true\n---\n# Refunds\n\nNot yet.\n")
    report = workspace.publish()
    assert report["counts"] == {"created": 2, "drafted": 1, "problems": 0}
    (drafted,) = [one for one in report["items"] if one["action"] == "drafted"]
    assert drafted["detail"] == "Its front matter has “draft: true”."
    assert workspace.publish()["counts"] == {"unchanged": 3, "problems": 0}
    assert list_states(workspace)["refunds.md"] == "draft"
    workspace.write(refunds_md="---\ndraft: false\n---\n# Refunds\n\nNot yet.\n")
    assert workspace.publish()["counts"] == {"unchanged": 2, "created": 1, "problems": 0}
    workspace.write(refunds_md="---\nstatus: draft\n---\n# Refunds\n\nAnother text.\n")
    drafted = next(one for one in workspace.publish("--prune")["items"] if one["action"] == "drafted")
    assert drafted["detail"].endswith("What was published before stays readable until it is archived.")
    workspace.write(refunds_md="---\npublish: false\n---\n# Refunds\n\nNot yet.\n")
    assert "stays readable" in workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE).stdout


def test_warnings_and_what_is_passed_over_are_said_and_do_not_fail(workspace: Workspace) -> None:
    workspace.write(soon_md="---\ntitle: Soon\n---\n", lang_md="---\nlang: xx\n---\nText.\n", a_png=b"\x89PNG")
    result = workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE)
    language, empty, passed_over, _new = result.stderr.splitlines()
    assert language.startswith("lang.md: Warning: The `lang` in its front matter has no effect: 'xx' is not a language")
    assert empty == "soon.md: Warning: It has front matter and no text: it is not published."
    assert passed_over == "1 file passed over: 1 .png (--verbose lists them)."
    verbose = workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE, "--verbose")
    assert verbose.stderr.splitlines()[-1] == "passed over a.png: not a format that is published"
    report = workspace.publish()
    assert [one["path"] for one in report["warnings"]] == ["lang.md", "soon.md"]
    assert report["passed_over"] == [{"path": "a.png", "reason": "format", "is_folder": False}]


def test_a_file_whose_text_is_taken_out_is_not_pruned(published: Workspace) -> None:
    published.write(refunds_md="---\ntitle: Refunds\n---\n")
    assert published.publish("--prune")["counts"] == {"unchanged": 2, "problems": 0}
    assert list_states(published)["refunds.md"] == "published"


def make_outcome(action: Action) -> ItemOutcome:
    return ItemOutcome("a.md", "ki", "kr", action, "why")


@pytest.mark.parametrize(
    ("actions", "problems", "code"),
    [
        (["created"], 0, ExitCode.OK),
        (["created"], 1, ExitCode.PROBLEMS),
        (["refused", "created"], 1, ExitCode.REFUSED),
        (["kept", "created"], 0, ExitCode.PROBLEMS),
        (["overwritten", "refused"], 1, ExitCode.OVERWRITTEN),
    ],
)
def test_the_most_serious_outcome_decides_the_exit_code(actions: list[Action], problems: int, code: ExitCode) -> None:
    loaded = LoadedFiles((), (FileError("b.md", "bad"),) * problems)
    assert choose_exit_code(PublishReport(tuple(map(make_outcome, actions))), loaded) == code


def test_a_folder_of_mixed_documents_is_published(workspace: Workspace) -> None:
    for name in ("pandoc.docx", "libreoffice.html", "openpyxl.xlsx", "comma.csv"):
        (workspace.folder / name).write_bytes((FILES / name).read_bytes())
    (workspace.folder / "broken.docx").write_bytes(b"%PDF-1.7")
    result = workspace.run("publish", workspace.folder, "--root", workspace.folder, *BASE, code=ExitCode.PROBLEMS)
    assert "7 created, 1 left out because of problems." in result.stdout
    assert "broken.docx: It is not a Word document (.docx)" in result.stderr
    again = workspace.json("publish", workspace.folder, "--root", workspace.folder, *BASE, code=ExitCode.PROBLEMS)
    assert again["counts"] == {"unchanged": 7, "problems": 1}
    found = workspace.json("search", "oil of the chain", *TEAM)["results"]
    assert {one["source"]["uri"] for one in found[:2]} == {"pandoc.docx", "libreoffice.html"}
