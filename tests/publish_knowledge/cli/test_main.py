"""The `knowledge` command on a real dataset: results, JSON, exit codes, and errors that say what to do."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from knowledge.embedding.providers import LOCAL_SMALL
from knowledge.errors import InternalError
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from publish_knowledge.cli.main import knowledge
from publish_knowledge.cli.output import ExitCode, Output
from publish_knowledge.cli.publish import choose_exit_code
from publish_knowledge.embedding.embedder import EmbeddingError
from publish_knowledge.publishing.plan import Action, ItemOutcome, PublishReport
from publish_knowledge.sources.file_errors import FileError
from publish_knowledge.sources.loading import LoadedFiles
from tests.support.datasets import SUPPORT, Location

TEXTS = {
    "refunds.md": "# Refunds\n\nRefunds are paid within five working days after the goods have arrived.\n",
    "guide/install.md": "# Install\n\nFetch the package.\n\n## Linux\n\nRun the installer with the usual rights.\n",
    "guide/long.txt": "A sentence about shipping to islands. " * 400,
}
TEAM = ("--team", "support")
BASE = (*TEAM, "--base", "handbook")


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder of texts, a dataset beside it, and the command at hand."""

    folder: Path
    uri: str

    def run(self, *arguments: str | Path, code: ExitCode = ExitCode.OK) -> Result:
        result = CliRunner().invoke(knowledge, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str | Path, code: ExitCode = ExitCode.OK) -> Any:  # noqa: ANN401 - a JSON document
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def publish(self, *options: str, code: ExitCode = ExitCode.OK) -> Any:  # noqa: ANN401 - as above
        return self.json("publish", self.folder, "--root", self.folder, *BASE, *options, code=code)

    def write(self, **files: str | bytes) -> None:
        """Files by name, `__` for a slash and `_` for the dot."""
        for name, content in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def item(self, path: str) -> dict[str, Any]:
        (found,) = [one for one in self.json("list", *TEAM)["items"] if one["source_path"] == path]
        return dict(found)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def desk(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The environment names dataset, model and cache, so that the tests' command lines stay short."""
    uri = str(tmp_path / "dataset")
    for name, value in {"LANCEDB_URI": uri, "EMBEDDING": LOCAL_SMALL, "KNOWLEDGE_CACHE_DIR": str(cache)}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "docs"
    for path, text in TEXTS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return Desk(folder, uri)


@pytest.fixture
def published(desk: Desk) -> Desk:
    desk.publish()
    return desk


@pytest.mark.parametrize("name", sorted(knowledge.commands))
def test_help_shows_an_example_of_every_command(name: str) -> None:
    result = CliRunner().invoke(knowledge, [name, "--help"])
    assert result.exit_code == 0
    assert f"Example:\n    knowledge {name} " in result.output
    assert "--json" in result.output


def test_the_commands_are_those_promised_and_each_says_in_a_line_what_it_does() -> None:
    output = CliRunner().invoke(knowledge, ["--help"]).output
    assert sorted(knowledge.commands) == [
        *("archive", "doctor", "eval", "history", "list", "optimize", "publish", "purge", "read", "restore", "search")
    ]
    assert "..." not in output.partition("Commands:")[2]
    assert all(f"{code.value} {code.name.lower().replace('_', ' ')}" in " ".join(output.split()) for code in ExitCode)


def test_publishing_tells_what_became_of_every_file(desk: Desk) -> None:
    report = desk.publish()
    assert report["type"] == "knowledge_publish_report"
    assert (report["scope"], report["knowledge_base_id"], report["dry_run"]) == ("team:support", "handbook", False)
    assert report["counts"] == {"created": 3, "problems": 0}
    assert [item["source_path"] for item in report["items"]] == ["guide/install.md", "guide/long.txt", "refunds.md"]
    assert all(item["knowledge_item_id"] and item["knowledge_revision_id"] for item in report["items"])
    assert report["problems"] == []


def test_publishing_again_does_nothing_and_one_edit_is_one_change(published: Desk) -> None:
    assert published.publish()["counts"] == {"unchanged": 3, "problems": 0}
    published.write(refunds_md="# Refunds\n\nRefunds are paid within ten working days.\n")
    result = published.run("publish", published.folder, "--root", published.folder, *BASE)
    assert result.stdout == "changed     refunds.md\n2 unchanged, 1 changed.\n"
    assert result.stderr == ""


def test_one_file_is_the_item_its_folder_made_with_the_same_root(published: Desk) -> None:
    file = published.folder / "guide/install.md"
    report = published.json("publish", file, "--root", published.folder, *BASE)
    assert report["counts"] == {"unchanged": 1, "problems": 0}


def test_a_folder_keeps_its_name_and_pruning_stays_inside_it(desk: Desk) -> None:
    desk.json("publish", desk.folder, *BASE)
    other = desk.folder.parent / "other"
    other.mkdir()
    (other / "refunds.md").write_text("Other refunds.\n")
    report = desk.json("publish", other, *BASE, "--prune")
    assert [(one["source_path"], one["action"]) for one in report["items"]] == [("other/refunds.md", "created")]
    name = desk.folder.name
    listed = {one["source_path"] for one in desk.json("list", *TEAM)["items"]}
    assert listed == {"other/refunds.md", *(f"{name}/{path}" for path in TEXTS)}


def test_pruning_archives_the_path_of_a_file_that_got_an_id(published: Desk) -> None:
    published.write(refunds_md="---\nid: refunds\n---\n# Refunds\n\nRefunds are paid.\n")
    published.publish("--prune")
    states = [one["state"] for one in published.json("list", *TEAM)["items"] if one["source_path"] == "refunds.md"]
    assert sorted(states) == ["archived", "published"]


def test_bad_files_are_told_and_the_rest_is_published(desk: Desk) -> None:
    desk.write(empty_md="", picture_md=b"\x89PNG", matter_md="---\ntitle: [\n---\nText.\n")
    result = desk.run("publish", desk.folder, "--root", desk.folder, *BASE, code=ExitCode.PROBLEMS)
    assert result.stdout.endswith("3 created, 3 left out because of problems.\n")
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["empty.md", "matter.md", "picture.md"]
    report = desk.publish(code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 3, "problems": 3}
    assert [problem["path"] for problem in report["problems"]] == ["empty.md", "matter.md", "picture.md"]


def test_a_dry_run_tells_and_writes_nothing(desk: Desk) -> None:
    result = desk.run("publish", desk.folder, "--root", desk.folder, *BASE, "--dry-run")
    assert result.stdout.endswith("Dry run, nothing written: 3 created.\n")
    assert not Path(desk.uri).exists()


def test_drafts_wait_and_are_not_read(desk: Desk) -> None:
    assert desk.publish("--draft")["counts"] == {"drafted": 3, "problems": 0}
    listed = desk.item("refunds.md")
    assert (listed["state"], len(listed["drafts"])) == ("draft", 1)
    desk.run("read", listed["knowledge_item_id"], *TEAM, code=ExitCode.NOT_FOUND)
    assert "(+1 drafts)" in desk.run("list", *TEAM).stdout


def test_pruning_archives_what_is_gone_but_not_what_cannot_be_read(published: Desk) -> None:
    (published.folder / "refunds.md").unlink()
    published.write(guide__install_md=b"\xff")
    report = published.publish("--prune", code=ExitCode.PROBLEMS)
    assert report["counts"] == {"unchanged": 1, "archived": 1, "problems": 1}
    assert published.item("refunds.md")["state"] == "archived"
    assert published.item("guide/install.md")["state"] == "published"


def test_the_language_option_is_for_texts_that_declare_none(desk: Desk) -> None:
    desk.publish("--language", "pt-BR")
    assert desk.item("refunds.md")["language"] == "pt"


def test_embedding_without_the_cache_leaves_none(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWLEDGE_CACHE_DIR", str(tmp_path / "cache"))
    desk.publish("--no-cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["publish"], "Missing argument"),
        (["publish", "{docs}", "--base", "handbook"], "Give exactly one of --owner ID and --team ID"),
        (["publish", "{docs}", *TEAM], "Missing option '--base'"),
        (["publish", "{docs}", *BASE, "--owner", "ana"], "Give exactly one of --owner ID and --team ID"),
        (["publish", "{docs}", *TEAM, "--base", "  "], "It must not be empty or blank."),
        (["publish", "{docs}", *TEAM, "--base", "\udcff"], "It must be valid UTF-8."),
        (["publish", "{docs}/nowhere", *BASE], "does not exist"),
        (["publish", "{docs}/none", *BASE], "No .md, .markdown, .mdx, .txt files found"),
        (["publish", "{docs}/refunds.md", *BASE, "--prune"], "--prune needs whole folders"),
        (["publish", "{docs}", *BASE, "--prune", "--draft"], "it cannot --prune"),
        (["publish", "{docs}", *BASE, "--language", "english"], "'english' is not a language code"),
        (["publish", "{docs}", *BASE, "--root", "{docs}/guide"], "does not lie under the root"),
        (["publish", "{docs}", *BASE, "--embedding", "huge"], "choose local, local-small or bedrock:<model id>"),
        (["publish", "{docs}", *BASE, "--uri", " "], "--uri must name a folder"),
        (["search", "refunds"], "Give --owner ID or --team ID"),
        (["search", "  ", *TEAM], "QUERY must not be blank"),
        (["search", "refunds", *TEAM, "--mode", "best"], "Invalid value for '--mode'"),
        (["search", "refunds", *TEAM, "--alpha", "nan"], "Invalid value for '--alpha'"),
        (["search", "refunds", *TEAM, "--max-results", "51"], "Invalid value for '--max-results'"),
        (["search", "refunds", *[f"--team={number}" for number in range(51)]], "51 owners and teams given"),
        (["read", "ki_x", *TEAM, "--offset", "-1"], "Invalid value for '--offset'"),
        (["archive", *TEAM], "Give --item ID, or --base ID"),
        (["archive", *TEAM, "--path", "a.md"], "Give --item ID, or --base ID"),
        (["restore", *BASE, "--path", "a.md", "--item", "ki_x"], "Give --item ID, or --base ID"),
        (["optimize", *TEAM, "--team", "field"], "Give one --owner ID or --team ID at most"),
        (["purge", *TEAM], "Add --yes to confirm it"),
        (["eat"], "No such command"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong_and_does_nothing(desk: Desk, arguments: list[str], said: str) -> None:
    (desk.folder / "none").mkdir()
    filled = [argument.replace("{docs}", str(desk.folder)) for argument in arguments]
    assert said in " ".join(desk.run(*filled, code=ExitCode.USAGE).stderr.split())
    assert not Path(desk.uri).exists()


def test_the_dataset_must_be_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANCEDB_URI")
    assert "Missing option '--uri'" in desk.run("doctor", code=ExitCode.USAGE).stderr


@pytest.mark.parametrize("command", ["search", "read", "list", "history", "archive", "optimize", "purge"])
def test_a_dataset_that_is_not_there_is_unavailable_and_not_empty(desk: Desk, command: str) -> None:
    rest = {
        "search": ["refunds"],
        "read": ["ki_x"],
        "history": ["ki_x"],
        "archive": ["--item=ki_x"],
        "purge": ["--yes"],
    }
    answer = desk.json(command, *rest.get(command, []), *TEAM, code=ExitCode.STORAGE_UNAVAILABLE)
    assert answer["type"] == "knowledge_unavailable"
    assert answer["error"]["code"] == "knowledge_storage_unavailable"
    assert answer["error"]["retryable"] is True


def test_a_store_that_does_not_answer_is_unavailable(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": "eu-west-1"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    desk.run("search", "refunds", *TEAM, "--uri", "s3://bucket/knowledge", code=ExitCode.STORAGE_UNAVAILABLE)


@pytest.mark.parametrize("command", [["search", "refunds"], ["list"], ["publish", "{docs}", "--base", "handbook"]])
def test_a_dataset_of_another_model_is_a_mismatch(published: Desk, command: list[str]) -> None:
    filled = [argument.replace("{docs}", str(published.folder)) for argument in command]
    answer = published.json(*filled, *TEAM, "--embedding", "local", code=ExitCode.MISMATCH)
    assert answer["error"]["code"] == "knowledge_dataset_mismatch"


def test_searching_prints_what_the_tool_answers(published: Desk) -> None:
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


def test_searching_for_people_shows_title_place_and_excerpt(published: Desk) -> None:
    lines = published.run("search", "rights", *TEAM, "--mode", "lexical").stdout.splitlines()
    assert lines[0].startswith("1. Install > Linux  [")
    assert lines[1].startswith("   guide/install.md  team:support  handbook  ki_")
    assert lines[2] == "   ## Linux Run the installer with the usual rights."
    assert published.run("search", "zebra", *TEAM, "--mode", "lexical").stdout == "Nothing found.\n"


def test_searching_a_base_that_is_not_there_is_not_found(published: Desk) -> None:
    published.run("search", "refunds", *TEAM, "--base", "other", "--mode", "lexical", code=ExitCode.NOT_FOUND)


def test_windows_join_to_the_text_and_may_be_longer_than_the_tools(published: Desk) -> None:
    item = published.item("guide/long.txt")["knowledge_item_id"]
    text = TEXTS["guide/long.txt"]
    first = published.json("read", item, *TEAM, "--limit-chars", "12000")
    following = first["continuation"]
    rest = published.json(
        *("read", item, *TEAM, "--limit-chars", "12000", "--offset", following["offset"]),
        *("--revision", following["knowledge_revision_id"], "--base", "handbook"),
    )
    assert (len(first["content"]), first["content"] + rest["content"], rest["continuation"]) == (12000, text, None)


def test_reading_for_people_gives_the_text_alone_and_says_on_stderr_how_to_go_on(published: Desk) -> None:
    item = published.item("guide/install.md")
    result = published.run("read", item["knowledge_item_id"], *TEAM, "--limit-chars", "10")
    revision = item["knowledge_revision_id"]
    assert result.stdout == TEXTS["guide/install.md"][:10]
    assert result.stderr.strip() == (
        f"[characters 0 to 10 of {len(TEXTS['guide/install.md'])}, revision {revision}] "
        f"Next: --revision {revision} --offset 10"
    )
    assert "Next" not in published.run("read", item["knowledge_item_id"], *TEAM).stderr


def test_an_earlier_revision_is_in_the_history_and_can_be_read(published: Desk) -> None:
    item = published.item("refunds.md")["knowledge_item_id"]
    published.write(refunds_md="# Refunds\n\nNo more.\n")
    published.publish()
    revisions = published.json("history", item, *TEAM)["revisions"]
    assert [one["state"] for one in revisions] == ["current", "earlier"]
    earlier = published.json("read", item, "--revision", revisions[1]["knowledge_revision_id"], *TEAM)
    assert (earlier["content"], earlier["is_current"]) == (TEXTS["refunds.md"], False)
    assert published.run("history", item, *TEAM).stdout.startswith("current  20")


def test_an_item_is_archived_by_its_path_and_restored_by_its_id(published: Desk) -> None:
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


def test_a_whole_base_is_archived_and_comes_back_as_it_was(published: Desk) -> None:
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
def test_what_is_not_there_is_not_found(published: Desk, command: list[str]) -> None:
    answer = published.json(*command, *TEAM, code=ExitCode.NOT_FOUND)
    assert answer["error"]["code"] == "knowledge_resource_unavailable"


def test_a_path_that_two_items_came_from_needs_an_id(published: Desk) -> None:
    published.write(refunds_md="---\nid: refunds\n---\nRefunds under an id of their own.\n")
    published.publish()
    said = published.run("archive", *BASE, "--path", "refunds.md", code=ExitCode.USAGE).stderr
    assert "Several items were published from 'refunds.md': give --item with one of ki_" in said


def test_an_empty_scope_lists_nothing(published: Desk) -> None:
    assert published.run("list", "--owner", "nobody").stdout == "No items.\n"


def test_a_purge_removes_one_scope_and_no_other(published: Desk) -> None:
    published.json("publish", published.folder, "--root", published.folder, "--owner", "ana", "--base", "notes")
    assert published.run("purge", *TEAM, "--yes").stdout == "Removed all of team:support.\n"
    assert published.json("purge", *TEAM, "--yes")["changed"] is False
    assert published.json("list", *TEAM)["items"] == []
    assert len(published.json("list", "--owner", "ana")["items"]) == 3


def test_the_doctor_finds_a_missing_twin_and_says_so_with_its_exit_code(published: Desk) -> None:
    assert published.run("doctor").stdout == "No faults found.\n"
    assert published.json("doctor", "--repair") == {"type": "knowledge_doctor", "repaired": True, "findings": []}

    async def lose(scope: Scope) -> None:
        async with Location(published.uri).store() as store:
            await store.drop(scope.revisions_table)

    asyncio.run(lose(SUPPORT))
    assert published.json("doctor", code=ExitCode.PROBLEMS)["findings"]
    assert "team:support" in published.run("doctor", code=ExitCode.PROBLEMS).stdout


def test_optimizing_tells_the_state_of_every_table(published: Desk) -> None:
    tables = published.json("optimize")["tables"]
    assert [(one["scope"], one["unindexed_rows"]) for one in tables] == [("team:support", 0)] * 2
    assert published.run("optimize", *TEAM).stdout.count("team:support") == 2
    assert published.run("optimize", "--owner", "nobody").stdout == "Nothing to optimize.\n"


def outcome(action: Action) -> ItemOutcome:
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
def test_the_gravest_outcome_decides_the_exit_code(actions: list[Action], problems: int, code: ExitCode) -> None:
    loaded = LoadedFiles((), (FileError("b.md", "bad"),) * problems)
    assert choose_exit_code(PublishReport(tuple(map(outcome, actions))), loaded) == code


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (RuntimeError("secret"), ExitCode.UNEXPECTED, "Error: Unexpected RuntimeError."),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "Error: Interrupted."),
        (EmbeddingError("The model failed."), ExitCode.STORAGE_UNAVAILABLE, "Error: The model failed."),
        (InternalError("1234"), ExitCode.UNEXPECTED, "Error: The call failed"),
        (TimeoutError(), ExitCode.STORAGE_UNAVAILABLE, "Error: The knowledge store cannot be reached"),
    ],
)
def test_whatever_goes_wrong_ends_in_a_sentence(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: ExitCode, said: str
) -> None:
    async def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(KnowledgeService, "search", fail)
    result = desk.run("search", "refunds", *TEAM, code=code)
    assert result.stderr.startswith(said)
    assert "secret" not in result.stderr
    assert desk.json("search", "refunds", *TEAM, code=code)["error"]["message"] in result.stderr


@pytest.mark.usefixtures("desk")
def test_only_debugging_shows_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KnowledgeService, "search", None)
    result = CliRunner().invoke(knowledge, ["--debug", "search", "refunds", *TEAM])
    assert result.exit_code == ExitCode.UNEXPECTED
    assert "Traceback" in result.stderr


def test_progress_is_shown_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = {}
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        with Output().progress() as progress:
            progress("embed", 0, 2)
            progress("embed", 2, 2)
        shown[stream.isatty()] = stream.getvalue()
    assert shown[False] == ""
    assert "embed" in shown[True]


def test_the_installed_command_answers_as_one_process(published: Desk) -> None:
    arguments = ["search", "rights", *TEAM, "--mode", "lexical"]
    command = [str(Path(sys.executable).with_name("knowledge")), *arguments, "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout) == published.json(*arguments)
    missing = subprocess.run([*command, "--uri", f"{published.uri}-not"], capture_output=True, text=True, check=False)
    assert missing.returncode == ExitCode.STORAGE_UNAVAILABLE
