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


EXACT = {
    "lines": "a\r\nb\r\n",
    "return": "a\rb\r",
    "null": "a\0b",
    "escape": "a \x1b[31mred\x1b[0m \x1b]0;title\x07",
    "eight_bits": "a\x9b31m\x85b",
    "mark_inside": "a\ufeffb\u202ec\u2028d\u2029",
    "form": "a\x0bb\x0cc\x08\x7f\t",
    "ends": "\n\n  a  \n\n\n",
    "no_end": "a",
    "emoji": "👩‍👩‍👧 e\u0301 漢字 ñ",
    "long": "A sentence about islands.\r\n" * 500,
}


def test_a_text_is_written_byte_for_byte(workspace: Workspace) -> None:
    workspace.write(**{f"exact__{name}.txt": text for name, text in EXACT.items()})
    workspace.write(exact__mark_txt="\ufeffa mark at the start is none of the text\n")
    workspace.publish()
    items = {one["source_path"]: one["knowledge_item_id"] for one in workspace.json("list", *TEAM)["items"]}
    for path, item in items.items():
        written = (workspace.folder / path).read_bytes().removeprefix(b"\xef\xbb\xbf")
        assert workspace.run("read", item, *TEAM, "--all").stdout_bytes == written, path
        whole = workspace.json("read", item, *TEAM, "--all")
        assert (whole["content"].encode(), whole["content_truncated"]) == (written, False), path
    assert len(items) == len(EXACT) + 1 + len(TEXTS)


def test_a_whole_text_can_be_read_from_a_place_in_it_at_one_revision(published: Workspace) -> None:
    item = published.item("guide/long.txt")["knowledge_item_id"]
    text = TEXTS["guide/long.txt"]
    result = published.run("read", item, *TEAM, "--all", "--offset", "5000", "--limit-chars", "10")
    assert result.stdout == text[5000:]
    assert f"[characters 5000 to {len(text)} of {len(text)}, " in result.stderr
    assert published.run("read", item, *TEAM, "--all", "--offset", "99999").stdout == ""


def test_titles_and_paths_of_a_search_are_one_visible_line_each(workspace: Workspace) -> None:
    workspace.write(**{"two\nlines\x1b[31m.md": '---\ntitle: "T\\e[1m\\u202e\\a"\n---\n# H\x1b[2m\n\nzebra\x9b31m'})
    workspace.publish()
    lines = workspace.run("search", "zebra", *TEAM, "--mode", "lexical").stdout.splitlines()
    assert lines[0].startswith(r"1. T\x1b[1m\u202e\x07 > H\x1b[2m  [")
    assert lines[1].startswith(r"   two\nlines\x1b[31m.md  team:support  handbook  ki_")
    assert lines[2] == r"   # H\x1b[2m zebra\x9b31m"
    (hit,) = workspace.json("search", "zebra", *TEAM, "--mode", "lexical")["results"]
    assert (hit["title"], hit["source"]["uri"]) == ("T\x1b[1m\u202e\x07", "two\nlines\x1b[31m.md")
    assert hit["excerpt"] == "# H\x1b[2m\n\nzebra\x9b31m"


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
