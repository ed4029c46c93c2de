"""`knowledge doctor`, `optimize` and `purge` on a real dataset."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.scopes import Scope
from publish_knowledge.cli.output import ExitCode
from tests.support.command import TEAM, Workspace, assert_usage_error
from tests.support.datasets import SUPPORT, Location


def test_a_purge_removes_one_scope_and_no_other(published: Workspace) -> None:
    published.json("publish", published.folder, "--root", published.folder, "--owner", "ana", "--base", "notes")
    assert published.run("purge", *TEAM, "--yes").stdout == "Removed all of team:support.\n"
    assert published.json("purge", *TEAM, "--yes")["changed"] is False
    assert published.json("list", *TEAM)["items"] == []
    assert len(published.json("list", "--owner", "ana")["items"]) == 3


def test_the_doctor_reports_a_missing_table_and_its_exit_code(published: Workspace) -> None:
    assert published.run("doctor").stdout == "No faults found.\n"
    assert published.json("doctor", "--repair") == {"type": "knowledge_doctor", "repaired": True, "findings": []}

    async def lose(scope: Scope) -> None:
        async with Location(published.uri).store() as store:
            await store.drop_table(scope.revisions_table)

    asyncio.run(lose(SUPPORT))
    assert published.json("doctor", code=ExitCode.PROBLEMS)["findings"]
    assert "team:support" in published.run("doctor", code=ExitCode.PROBLEMS).stdout


def test_optimizing_reports_the_state_of_every_table(published: Workspace) -> None:
    tables = published.json("optimize")["tables"]
    assert [(one["scope"], one["unindexed_rows"]) for one in tables] == [("team:support", 0)] * 2
    assert published.run("optimize", *TEAM).stdout.count("team:support") == 2
    published.run("purge", *TEAM, "--yes")
    assert published.run("optimize", *TEAM).stdout == "Nothing to optimize.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["purge", *TEAM], "Add --yes to confirm it"),
    ],
)
def test_a_purge_has_to_be_confirmed(workspace: Workspace, arguments: list[str], message: str) -> None:
    assert_usage_error(workspace, arguments, message)
