"""`knowledge search` and `read`: the answers of the tool, as JSON and for people."""

from __future__ import annotations

import pytest

from publish_knowledge.cli.output import ExitCode
from tests.support.command import TEAM, TEXTS, Workspace, assert_usage_error


def test_searching_prints_what_the_tool_answers(published: Workspace) -> None:
    answer = published.json("search", "when are refunds paid", *TEAM, "--owner", "ana", "--max-results", "2")
    assert (answer["type"], answer["mode"], answer["weights"]) == (
        "knowledge_search",
        "hybrid",
        {"lexical": 0.5, "semantic": 0.5},
    )
    first = answer["results"][0]
    assert (first["title"], first["source"]["uri"], first["team_id"]) == ("Refunds", "refunds.md", "support")
    lexical = published.json("search", "rights", *TEAM, "--mode", "lexical", "--base", "handbook")
    assert [(one["title"], one["locator"]) for one in lexical["results"]] == [("Install", "Install > Linux")]


def test_searching_shows_people_title_source_and_excerpt(published: Workspace) -> None:
    lines = published.run("search", "rights", *TEAM, "--mode", "lexical").stdout.splitlines()
    assert lines[0].startswith("1. Install > Linux  [")
    assert lines[1].startswith("   guide/install.md  team:support  handbook  ki_")
    assert lines[2] == "   ## Linux Run the installer with the usual rights."
    assert published.run("search", "zebra", *TEAM, "--mode", "lexical").stdout == "Nothing found.\n"


def test_searching_an_unknown_base_is_not_found(published: Workspace) -> None:
    published.run("search", "refunds", *TEAM, "--base", "other", "--mode", "lexical", code=ExitCode.NOT_FOUND)


def test_windows_join_to_the_text_and_may_be_longer_than_the_tools(published: Workspace) -> None:
    item = published.item("guide/long.txt")["knowledge_item_id"]
    text = TEXTS["guide/long.txt"]
    first = published.json("read", item, *TEAM, "--limit-chars", "12000")
    following = first["continuation"]
    rest = published.json(
        *("read", item, *TEAM, "--limit-chars", "12000", "--offset", following["offset"]),
        *("--revision", following["knowledge_revision_id"], "--base", "handbook"),
    )
    assert (len(first["content"]), first["content"] + rest["content"], rest["continuation"]) == (12000, text, None)


def test_reading_prints_the_text_alone_and_on_stderr_how_to_continue(published: Workspace) -> None:
    item = published.item("guide/install.md")
    result = published.run("read", item["knowledge_item_id"], *TEAM, "--limit-chars", "10")
    revision = item["knowledge_revision_id"]
    assert result.stdout == TEXTS["guide/install.md"][:10]
    assert result.stderr.strip() == (
        f"[characters 0 to 10 of {len(TEXTS['guide/install.md'])}, revision {revision}] "
        f"Next: --revision {revision} --offset 10"
    )
    assert "Next" not in published.run("read", item["knowledge_item_id"], *TEAM).stderr


def test_an_earlier_revision_is_in_the_history_and_can_be_read(published: Workspace) -> None:
    item = published.item("refunds.md")["knowledge_item_id"]
    published.write(refunds_md="# Refunds\n\nNo more.\n")
    published.publish()
    revisions = published.json("history", item, *TEAM)["revisions"]
    assert [one["state"] for one in revisions] == ["current", "earlier"]
    earlier = published.json("read", item, "--revision", revisions[1]["knowledge_revision_id"], *TEAM)
    assert (earlier["content"], earlier["is_current"]) == (TEXTS["refunds.md"], False)
    assert published.run("history", item, *TEAM).stdout.startswith("current  20")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "  ", *TEAM], "QUERY must not be blank"),
        (["search", "refunds", *TEAM, "--mode", "best"], "Invalid value for '--mode'"),
        (["search", "refunds", *TEAM, "--alpha", "nan"], "Invalid value for '--alpha'"),
        (["search", "refunds", *TEAM, "--max-results", "51"], "Invalid value for '--max-results'"),
        (["read", "ki_x", *TEAM, "--offset", "-1"], "Invalid value for '--offset'"),
    ],
)
def test_an_argument_out_of_range_is_refused(workspace: Workspace, arguments: list[str], message: str) -> None:
    assert_usage_error(workspace, arguments, message)
