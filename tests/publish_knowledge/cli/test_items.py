"""`knowledge list`, `history`, `archive` and `restore`: what is shown, and which items are changed."""

from __future__ import annotations

import pytest

from publish_knowledge.cli.output import ExitCode
from tests.support.command import BASE, TEAM, TEXTS, Workspace, assert_usage_error


def test_an_item_is_archived_by_its_path_and_restored_by_its_id(published: Workspace) -> None:
    item = published.item("refunds.md")["knowledge_item_id"]
    archived = published.json("archive", *BASE, "--path", "refunds.md")
    assert archived == {
        "type": "knowledge_archived",
        "scope": "team:support",
        "changed": True,
        "item_ids": [item],
        "detail": "",
    }
    published.run("read", item, *TEAM, code=ExitCode.NOT_FOUND)
    assert published.run("archive", *TEAM, "--item", item).stdout == "The item was archived already.\n"
    assert published.run("restore", *TEAM, "--item", item).stdout == "Restored 1 item.\n"
    published.run("read", item, *TEAM)


def test_a_whole_base_is_archived_and_restored_as_it_was(published: Workspace) -> None:
    published.run("archive", *BASE, "--path", "refunds.md")
    assert published.run("archive", *BASE).stdout == "Archived 2 items.\n"
    assert {one["base_archived"] for one in published.json("list", *BASE)["items"]} == {True}
    assert "handbook (base archived)" in published.run("list", *TEAM).stdout
    refused = published.publish(code=ExitCode.REFUSED)
    assert "Restore it before you publish into it." in refused["error"]["message"]
    published.run("restore", *BASE)
    assert [one["state"] for one in published.json("list", *BASE)["items"]] == ["published", "published", "archived"]


@pytest.mark.parametrize(
    "command",
    [
        ["archive", "--item", "ki_unknown"],
        ["restore", "--item", "ki_unknown"],
        ["archive", "--base", "unknown"],
        ["archive", "--base", "handbook", "--path", "unknown.md"],
        ["history", "ki_unknown"],
        ["read", "ki_unknown"],
    ],
)
def test_an_unknown_id_is_not_found(published: Workspace, command: list[str]) -> None:
    answer = published.json(*command, *TEAM, code=ExitCode.NOT_FOUND)
    assert answer["error"]["code"] == "knowledge_resource_unavailable"


def test_a_path_that_two_items_came_from_needs_an_id(published: Workspace) -> None:
    published.write(refunds_md="---\nid: refunds\n---\nRefunds under an id of their own.\n")
    published.publish()
    message = published.run("archive", *BASE, "--path", "refunds.md", code=ExitCode.USAGE).stderr
    assert "Several items were published from 'refunds.md': give --item with one of ki_" in message
    read = published.run("read", *BASE, "--path", "refunds.md", code=ExitCode.USAGE).stderr
    assert "Several items were published from 'refunds.md': give ITEM, one of ki_" in read


def test_an_empty_scope_lists_nothing(published: Workspace) -> None:
    published.json("publish", published.folder, "--owner", "nobody", "--base", "notes")
    published.run("purge", "--owner", "nobody", "--yes")
    assert published.run("list", "--owner", "nobody").stdout == "No items.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["archive", *TEAM], "Give --item ID, or --base ID"),
        (["archive", *TEAM, "--path", "a.md"], "Give --item ID, or --base ID"),
        (["restore", *BASE, "--path", "a.md", "--item", "ki_x"], "Give --item ID, or --base ID"),
    ],
)
def test_an_incomplete_name_of_an_item_is_refused(workspace: Workspace, arguments: list[str], message: str) -> None:
    assert_usage_error(workspace, arguments, message)


def test_titles_and_paths_are_one_visible_line_each(workspace: Workspace) -> None:
    workspace.write(**{"two\nlines\x1b[31m.md": '---\ntitle: "T\\e[1m\\a"\n---\nzebra'})
    workspace.publish()
    item = workspace.item("two\nlines\x1b[31m.md")
    listed = workspace.run("list", *TEAM).stdout.splitlines()
    assert len(listed) == len(TEXTS) + 1
    assert [line for line in listed if line.endswith(r"  two\nlines\x1b[31m.md  T\x1b[1m\x07")]
    (revision,) = workspace.run("history", item["knowledge_item_id"], *TEAM).stdout.splitlines()
    assert revision.endswith(r"  T\x1b[1m\x07")
    unknown = workspace.run("archive", *BASE, "--path", "a\x1bb", code=ExitCode.NOT_FOUND)
    assert r"no item from 'a\x1bb'" in unknown.stderr


def test_read_and_history_take_the_path_as_archive_does(published: Workspace) -> None:
    item = published.item("guide/install.md")["knowledge_item_id"]
    by_path = (*BASE, "--path", "guide/install.md")
    assert published.json("history", *by_path) == published.json("history", item, *TEAM)
    assert published.json("read", *by_path) == published.json("read", item, *TEAM)
    read = published.json("read", *by_path, "--owner", "ana", "--offset", "2", "--limit-chars", "3")
    assert (read["knowledge_item_id"], len(read["content"])) == (item, 3)
    for command in ("read", "history"):
        published.run(command, *BASE, "--path", "nowhere.md", code=ExitCode.NOT_FOUND)
        for wrong in ((*TEAM,), (*TEAM, "--path", "refunds.md"), (item, *by_path)):
            result = published.run(command, *wrong, code=ExitCode.USAGE)
            assert "Give ITEM, or --base ID with --path PATH." in result.stderr


def test_a_path_in_another_unicode_form_is_the_same(workspace: Workspace) -> None:
    workspace.write(café_md="A place for coffee.\n")
    workspace.publish()
    for path in ("café.md", "cafe\u0301.md"):
        assert workspace.json("read", *BASE, "--path", path)["content"] == "A place for coffee.\n"
        assert workspace.json("archive", *BASE, "--path", path)["type"] == "knowledge_archived"
        workspace.run("restore", *BASE, "--path", path)
