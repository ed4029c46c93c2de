"""Output of the command: the result and its envelope on stdout, progress on stderr."""

from __future__ import annotations

import io
import json
import sys

import pytest

from knowledge.errors import (
    DatasetMismatchError,
    InternalError,
    InvalidRequestError,
    KnowledgeError,
    ResourceUnavailableError,
    StorageUnavailableError,
)
from publish_knowledge.cli.output import ExitCode, Output, UnknownIdError, find_exit_code


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


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StorageUnavailableError(), ExitCode.STORAGE_UNAVAILABLE),
        (DatasetMismatchError("model"), ExitCode.MISMATCH),
        (ResourceUnavailableError(), ExitCode.NOT_FOUND),
        (UnknownIdError("No such item."), ExitCode.NOT_FOUND),
        (InvalidRequestError("The base is archived."), ExitCode.REFUSED),
        (InternalError("1234"), ExitCode.UNEXPECTED),
    ],
)
def test_every_kind_of_error_has_its_exit_code(error: KnowledgeError, code: ExitCode) -> None:
    assert find_exit_code(error) == code


def test_a_result_is_lines_for_people_or_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.result({"type": "t", "text": "ñ"}, ["first", "second"])
    assert capsys.readouterr().out == "first\nsecond\n"
    output.as_json = True
    output.result({"type": "t", "text": "ñ"}, ["first", "second"])
    assert capsys.readouterr().out == '{"type":"t","text":"ñ"}\n'


def test_a_failure_is_on_stderr_and_with_json_also_an_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.failure(ExitCode.UNEXPECTED, "It failed.")
    assert capsys.readouterr() == ("", "Error: It failed.\n")
    output.as_json = True
    output.failure(ExitCode.UNEXPECTED, "It failed.")
    assert json.loads(capsys.readouterr().out) == {
        "type": "knowledge_error",
        "error": {"code": "knowledge_unexpected", "message": "It failed.", "field": None, "retryable": False},
    }
    output.failure(ExitCode.STORAGE_UNAVAILABLE, "No store.", StorageUnavailableError())
    envelope = json.loads(capsys.readouterr().out)
    assert (envelope["type"], envelope["error"]["retryable"]) == ("knowledge_unavailable", True)
