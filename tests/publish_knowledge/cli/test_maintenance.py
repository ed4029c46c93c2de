"""`knowledge doctor`, `optimize` and `purge` on a real dataset."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.scopes import Scope
from knowledge.store.schema import ANALYZER_VERSION, META_ANALYZER, TERMS
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.store.scope_tables import open_scope
from tests.support.command import BASE, TEAM, Workspace, assert_usage_error
from tests.support.datasets import ANA, SUPPORT, Location


def test_a_purge_removes_one_scope_and_no_other(published: Workspace) -> None:
    published.json("publish", published.folder, "--root", published.folder, "--owner", "ana", "--base", "notes")
    assert published.run("purge", *TEAM, "--yes").stdout == "Removed all of team:support.\n"
    assert published.json("purge", *TEAM, "--yes")["changed"] is False
    assert published.json("list", *TEAM)["items"] == []
    assert len(published.json("list", "--owner", "ana")["items"]) == 3


def test_the_doctor_reports_a_missing_table_and_its_exit_code(published: Workspace) -> None:
    assert published.run("doctor").stdout == "No faults found.\n"
    assert published.json("doctor", "--repair") == {
        "type": "knowledge_doctor",
        "repaired": True,
        "findings": [],
        "outdated_terms": [],
    }

    async def lose(scope: Scope) -> None:
        async with Location(published.uri).store() as store:
            await store.drop_table(scope.revisions_table)

    asyncio.run(lose(SUPPORT))
    assert published.json("doctor", code=ExitCode.PROBLEMS)["findings"]
    assert "team:support" in published.run("doctor", code=ExitCode.PROBLEMS).stdout


@pytest.mark.parametrize("versions", ["1", f"2 {ANALYZER_VERSION}"])
def test_terms_of_an_older_analyzer_are_no_fault_and_renewed_by_the_command_that_is_named(
    published: Workspace, versions: str
) -> None:
    published.json("publish", published.folder, "--root", published.folder, "--owner", "ana", "--base", "notes")
    _set_analyzer_versions(published, versions)
    sentence = f"team:support: its search terms are of analyzer {versions}, the newest is {ANALYZER_VERSION}."
    for options in ([], ["--deep"], ["--repair"]):
        first, second = published.run("doctor", *options).stdout.splitlines()
        assert first == "No faults found."
        assert second.startswith(sentence)
        assert "`knowledge reindex`" in second
        assert published.json("doctor", *options)["outdated_terms"] == [
            {"scope": "team:support", "analyzer": versions, "newest": str(ANALYZER_VERSION)}
        ]
    assert sentence in published.run("publish", published.folder, "--root", published.folder, *BASE).stderr
    published.run("reindex")
    assert published.run("doctor").stdout == "No faults found.\n"
    assert "analyzer" not in published.run("publish", published.folder, "--root", published.folder, *BASE).stderr


def test_faults_are_still_reported_beside_older_terms(published: Workspace) -> None:
    published.json("publish", published.folder, "--root", published.folder, "--owner", "ana", "--base", "notes")
    _set_analyzer_versions(published, "1")

    async def lose() -> None:
        async with Location(published.uri).store() as store:
            await store.drop_table(ANA.revisions_table)

    asyncio.run(lose())
    found = published.json("doctor", code=ExitCode.PROBLEMS)
    assert [one["code"] for one in found["findings"]] == ["missing-twin"]
    assert [one["scope"] for one in found["outdated_terms"]] == ["team:support"]


def test_without_a_dataset_nothing_is_said_of_terms(workspace: Workspace) -> None:
    document = workspace.json("doctor", code=ExitCode.PROBLEMS)
    assert [one["code"] for one in document["findings"]] == ["missing-marker"]
    assert document["outdated_terms"] == []


def _set_analyzer_versions(published: Workspace, versions: str) -> None:
    async def mark() -> None:
        async with Location(published.uri).store() as store:
            tables = await open_scope(store, SUPPORT)
            assert tables
            await tables.current.set_column_metadata(TERMS, {META_ANALYZER: versions})

    asyncio.run(mark())


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
