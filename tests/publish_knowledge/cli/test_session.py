"""The session and the target of a command: storage options, access, and the engine that embeds."""

from __future__ import annotations

from pathlib import Path

import pytest
from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks

from knowledge.embedding.providers import LOCAL, LOCAL_SMALL
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.session import Session, Target, create_target
from publish_knowledge.publishing.catalog import list_items
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import PublishReport
from publish_knowledge.publishing.publish import publish
from publish_knowledge.store.database import Store
from tests.support.command import TEAM, Workspace
from tests.support.datasets import SUPPORT


@pytest.mark.parametrize("command", ["search", "read", "list", "history", "archive", "optimize", "purge"])
def test_a_missing_dataset_is_unavailable_and_not_empty(workspace: Workspace, command: str) -> None:
    rest = {
        "search": ["refunds"],
        "read": ["ki_x"],
        "history": ["ki_x"],
        "archive": ["--item=ki_x"],
        "purge": ["--yes"],
    }
    answer = workspace.json(command, *rest.get(command, []), *TEAM, code=ExitCode.STORAGE_UNAVAILABLE)
    assert answer["type"] == "knowledge_unavailable"
    assert answer["error"]["code"] == "knowledge_storage_unavailable"
    assert answer["error"]["retryable"] is True


@pytest.mark.slow
def test_a_store_that_does_not_answer_is_unavailable(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": "eu-west-1"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    workspace.run("search", "refunds", *TEAM, "--uri", "s3://bucket/knowledge", code=ExitCode.STORAGE_UNAVAILABLE)


@pytest.mark.parametrize("command", [["search", "refunds"], ["list"], ["publish", "{docs}", "--base", "handbook"]])
def test_a_dataset_of_another_model_is_a_mismatch(published: Workspace, command: list[str]) -> None:
    filled = [argument.replace("{docs}", str(published.folder)) for argument in command]
    answer = published.json(*filled, *TEAM, "--embedding", "local", code=ExitCode.MISMATCH)
    assert answer["error"]["code"] == "knowledge_dataset_mismatch"


def ignore(_done: int, _total: int) -> None:
    """No progress is shown."""


def make_target(folder: Path, embedding: str = LOCAL_SMALL, **environ: str) -> Target:
    return create_target(Session(environ, folder / "cache"), str(folder / "dataset"), embedding)


def test_an_unknown_embedding_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="choose local"):
        make_target(tmp_path, "huge")


def test_work_runs_with_write_access_and_returns_its_result(tmp_path: Path) -> None:
    target = make_target(tmp_path)

    async def publish_empty(store: Store) -> PublishReport:
        return await publish(
            store, PublishOptions(SUPPORT, "base"), [], embedder=target.create_embedder(ignore, cached=False)
        )

    assert target.run(publish_empty) == PublishReport(())
    assert target.run(lambda store: list_items(store, SUPPORT, None)) == ()


def test_the_command_does_not_print_that_a_write_was_repeated(tmp_path: Path) -> None:
    set_on_retry_hooks(None)
    make_target(tmp_path).create_store()
    assert get_on_retry_hooks() == ()


def test_vectors_are_cached_only_when_asked_for(tmp_path: Path) -> None:
    target = make_target(tmp_path)
    target.create_embedder(ignore, cached=False).embed(["text"])
    assert not (tmp_path / "cache").exists()
    target.create_embedder(ignore, cached=True).embed(["text"])
    assert (tmp_path / "cache").exists()


@pytest.mark.parametrize(("embedding", "reported"), [(LOCAL, True), (LOCAL_SMALL, False)])
def test_the_engine_is_reported_on_stderr_where_the_model_has_several(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    embedding: str,
    reported: bool,  # noqa: FBT001 - a table's column
) -> None:
    make_target(tmp_path, embedding).report_engine()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Embedding with ") is reported
