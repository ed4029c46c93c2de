"""Options that several commands share: dataset, model, owners and teams, ids."""

from __future__ import annotations

import pytest

from publish_knowledge.cli.output import ExitCode
from tests.support.command import BASE, TEAM, Workspace, assert_usage_error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["publish", "{docs}", "--base", "handbook"], "Give exactly one of --owner ID and --team ID"),
        (["publish", "{docs}", *BASE, "--owner", "ana"], "Give exactly one of --owner ID and --team ID"),
        (["publish", "{docs}", *TEAM, "--base", "  "], "It must not be empty or blank."),
        (["publish", "{docs}", *TEAM, "--base", "\udcff"], "It must be valid UTF-8."),
        (["publish", "{docs}", *BASE, "--embedding", "huge"], "choose local, local-small or bedrock:<model id>"),
        (["publish", "{docs}", *BASE, "--uri", " "], "--uri must name a folder"),
        (["search", "refunds"], "Give --owner ID or --team ID"),
        (["search", "refunds", *[f"--team={number}" for number in range(51)]], "51 owners and teams given"),
        (["optimize", *TEAM, "--team", "field"], "Give one --owner ID or --team ID at most"),
    ],
)
def test_a_shared_option_with_a_wrong_value_is_refused(
    workspace: Workspace, arguments: list[str], message: str
) -> None:
    assert_usage_error(workspace, arguments, message)


def test_the_dataset_must_be_named(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANCEDB_URI")
    assert "Missing option '--uri'" in workspace.run("doctor", code=ExitCode.USAGE).stderr
