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


def test_a_line_shows_its_controls_and_json_keeps_them(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.result({}, ["a\x1b[31mb\nc", "d\u202e\x85\udcff"])
    output.note("e\x07\r")
    output.failure(ExitCode.REFUSED, "f\x9b")
    assert capsys.readouterr() == ("a\\x1b[31mb\\nc\nd\\u202e\\x85\\udcff\n", "e\\x07\\r\nError: f\\x9b\n")
    output.as_json = True
    document = {"title": "a\x1b[31mb\nc\u202e\x9b\udcff"}
    output.result(document, [])
    printed = capsys.readouterr().out
    assert json.loads(printed) == document
    assert printed == '{"title":"a\\u001b[31mb\\nc\\u202e\\u009b\\udcff"}\n'


def test_a_terminal_that_lacks_characters_gets_escapes_and_json_is_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    output = Output()
    output.result({}, ["año 漢"])
    output.as_json = True
    output.result({"a": "ñ"}, [])
    assert written.getvalue() == b'a\\xf1o \\u6f22\n{"a":"\xc3\xb1"}\n'


def test_a_text_is_exact_in_a_file_and_visible_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream(io.TextIOWrapper):
        terminal = False

        def isatty(self) -> bool:
            return self.terminal

    class Terminal(Stream):
        terminal = True

    text = "one\r\ntwo\r\tñ\x1b[31m\0\n\n"
    written = {}
    for kind in (Stream, Terminal):
        buffer = io.BytesIO()
        # As on Windows: a text stream there would write two characters for each line end.
        monkeypatch.setattr(sys, "stdout", kind(buffer, encoding="utf-8", newline="\r\n"))
        Output().text(text)
        written[kind.terminal] = buffer.getvalue().decode()
    assert written == {False: text, True: "one\ntwo\\r\tñ\\x1b[31m\\x00\n\n"}


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
