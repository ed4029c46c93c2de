"""Commands that cannot do what was asked say why: no dataset, an unknown name, a state, another model."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish_knowledge.cli.output import ExitCode
from tests.support.command import BASE, TEAM, Workspace

READING = {
    "search": ["search", "refunds"],
    "read": ["read", "ki_x"],
    "list": ["list"],
    "history": ["history", "ki_x"],
    "archive": ["archive", "--item=ki_x"],
    "restore": ["restore", "--base=handbook"],
    "optimize": ["optimize"],
    "reindex": ["reindex"],
    "purge": ["purge", "--yes"],
    "eval": ["eval", "{questions}"],
}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "queries.jsonl").write_text('{"id": "1", "text": "refunds"}\n')
    (folder / "qrels.tsv").write_text("1\trefunds.md\t1\n")
    return folder


def fill(command: list[str], questions: Path) -> list[str]:
    return [str(questions) if word == "{questions}" else word for word in command]


@pytest.mark.parametrize("name", READING)
def test_every_command_says_that_there_is_no_dataset(workspace: Workspace, questions: Path, name: str) -> None:
    command = [*fill(READING[name], questions), *TEAM]
    (workspace.folder / "empty").mkdir()
    for address in ("missing", "docs/empty", "docs", "docs/refunds.md"):
        path = workspace.folder.parent / address
        result = workspace.run(*command, "--uri", path, code=ExitCode.STORAGE_UNAVAILABLE)
        assert f"Error: There is no dataset at {path}. Check the address" in result.stderr, address
    answer = workspace.json(*command, code=ExitCode.STORAGE_UNAVAILABLE)
    assert answer["error"]["code"] == "knowledge_storage_unavailable"
    assert not Path(workspace.uri).exists()


def test_the_doctor_says_that_there_is_no_dataset(workspace: Workspace) -> None:
    result = workspace.run("doctor", code=ExitCode.PROBLEMS)
    assert f"missing-marker  {workspace.uri}: There is no dataset at {workspace.uri}. Check" in result.stdout


@pytest.mark.parametrize("name", READING)
def test_an_unknown_team_is_named_beside_a_similar_one(published: Workspace, questions: Path, name: str) -> None:
    command = fill(READING[name], questions)
    result = published.run(*command, "--team", "suport", code=ExitCode.NOT_FOUND)
    assert "Error: There is no team 'suport' in the dataset at " in result.stderr
    assert "Did you mean 'team:support'?" in result.stderr
    answer = published.json(*command, "--owner", "support", code=ExitCode.NOT_FOUND)
    assert answer["error"]["code"] == "knowledge_resource_unavailable"
    assert "no owner 'support'" in answer["error"]["message"]
    assert "Did you mean 'team:support'?" in answer["error"]["message"]


@pytest.mark.parametrize(
    "command",
    [
        ["search", "refunds"],
        ["search", "refunds", "--mode", "lexical"],
        ["list"],
        ["archive"],
        ["restore"],
        ["archive", "--path", "refunds.md"],
        ["eval", "{questions}"],
    ],
)
def test_an_unknown_base_is_named_beside_a_similar_one(
    published: Workspace, questions: Path, command: list[str]
) -> None:
    filled = [*fill(command, questions), *TEAM, "--base", "Handbok"]
    result = published.run(*filled, code=ExitCode.NOT_FOUND)
    assert "team:support has no base 'Handbok'. `knowledge list` shows the bases there are. Did" in result.stderr
    assert result.stderr.endswith("Did you mean 'handbook'?\n")


def test_one_unknown_team_among_others_is_reported_beside_the_answer(published: Workspace, questions: Path) -> None:
    for command in (["search", "refunds"], ["eval", str(questions), "--alpha-sweep", ""]):
        result = published.run(*command, *TEAM, "--team", "suport")
        assert "There is no team 'suport' in the dataset at " in result.stderr
        assert result.stdout
    item = published.item("refunds.md")["knowledge_item_id"]
    assert "no owner 'anna'" in published.run("read", item, *TEAM, "--owner", "anna").stderr


def test_publishing_says_what_it_makes(workspace: Workspace) -> None:
    folder = (workspace.folder, "--root", workspace.folder)
    planned = workspace.run("publish", *folder, *BASE, "--dry-run")
    assert planned.stderr == f"There is no dataset at {workspace.uri} yet: this would make a new one.\n"
    made = workspace.run("publish", *folder, *BASE)
    assert made.stderr == f"There is no dataset at {workspace.uri} yet: this makes a new one.\n"
    team = workspace.run("publish", *folder, "--team", "suport", "--base", "handbook")
    assert "team:suport has nothing in this dataset yet: this begins it. Similar: 'team:support'." in team.stderr
    base = workspace.run("publish", *folder, *TEAM, "--base", "Handbok", "--dry-run")
    assert "team:support has no base 'Handbok' yet: this would begin it. Similar: 'handbook'." in base.stderr
    assert workspace.run("publish", *folder, *BASE).stderr == ""


@pytest.mark.parametrize("address", ["docs", "docs/guide", "docs/refunds.md"])
def test_publishing_makes_no_dataset_among_other_files(workspace: Workspace, address: str) -> None:
    path = workspace.folder.parent / address
    before = sorted(workspace.folder.rglob("*"))
    for options in ((), ("--dry-run",)):
        code = ExitCode.STORAGE_UNAVAILABLE
        result = workspace.run("publish", workspace.folder, *BASE, "--uri", path, *options, code=code)
        assert "Check the address" in result.stderr
        assert str(path) in result.stderr
    assert sorted(workspace.folder.rglob("*")) == before


def test_an_item_that_cannot_be_read_is_explained_by_its_state(published: Workspace) -> None:
    item = published.item("refunds.md")["knowledge_item_id"]

    def explain(*arguments: str) -> str:
        return published.run("read", *arguments, *TEAM, code=ExitCode.NOT_FOUND).stderr

    assert "There is no item 'ki_x' of team:support." in explain("ki_x")
    assert f"The item {item} is in the base 'handbook', not in 'other'." in explain(item, "--base", "other")
    assert f"{item} has no published revision 'kr_x'" in explain(item, "--revision", "kr_x")
    published.run("archive", *TEAM, "--item", item)
    assert f"The item {item} is archived." in explain(item)
    published.run("restore", *TEAM, "--item", item)
    published.run("archive", *BASE)
    assert "The base 'handbook' of team:support is archived." in explain(item)
    hidden = published.run("search", "refunds", *BASE, code=ExitCode.NOT_FOUND).stderr
    assert "The base 'handbook' is archived in team:support." in hidden
    published.write(draft_md="A draft.\n")
    published.json("publish", published.folder / "draft.md", "--draft", *TEAM, "--base", "drafts")
    (draft,) = published.json("list", *TEAM, "--base", "drafts")["items"]
    assert "is a draft. Publish it without --draft" in explain(draft["knowledge_item_id"])
    searched = published.run("search", "draft", *TEAM, "--base", "drafts", code=ExitCode.NOT_FOUND)
    assert "The base 'drafts' has no published item." in searched.stderr


@pytest.mark.parametrize("name", READING)
def test_a_mismatch_names_the_embedding_to_use(published: Workspace, questions: Path, name: str) -> None:
    command = [*fill(READING[name], questions), *TEAM, "--embedding", "local"]
    result = published.run(*command, code=ExitCode.MISMATCH)
    assert "with, --embedding local-small (or EMBEDDING=local-small), or publish to a new address." in result.stderr


def test_publishing_and_examining_name_the_embedding_to_use_too(published: Workspace) -> None:
    model = ("--embedding", "bedrock:amazon.titan-embed-text-v2:0")
    published_again = published.run("publish", published.folder, *BASE, *model, "--dry-run", code=ExitCode.MISMATCH)
    assert "Set the embedding that it was made with, --embedding local-small" in published_again.stderr
    assert (
        "Set the embedding that it was made with, --embedding local-small"
        in published.run("doctor", *model, code=ExitCode.PROBLEMS).stdout
    )
