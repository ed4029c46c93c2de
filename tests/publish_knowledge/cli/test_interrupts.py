"""What is said when a command is interrupted; `tests/behaviour/test_interrupts.py` interrupts real ones."""

from __future__ import annotations

import json

import pytest

from publish_knowledge.cli.interrupts import SIGNALS, describe_interruption, report_interruption
from publish_knowledge.cli.output import ExitCode, Output


def test_each_signal_has_the_exit_code_that_a_shell_gives_it() -> None:
    assert {number + 128: int(code) for number, code in SIGNALS.items()} == {130: 130, 143: 143}


def test_the_message_says_what_is_committed_where_that_is_known() -> None:
    output = Output()
    assert describe_interruption(output) == "Interrupted. The same command again goes on where this one stopped."
    output.committed = 1200, 5000
    assert "1,200 of 5,000 files are committed and kept." in describe_interruption(output)


def test_the_message_goes_to_stderr_and_with_json_the_envelope_to_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    output = Output()
    report_interruption(output, ExitCode.INTERRUPTED)
    assert capfd.readouterr() == ("", f"Error: {describe_interruption(output)}\n")
    output.as_json = True
    report_interruption(output, ExitCode.TERMINATED)
    printed = capfd.readouterr()
    error = json.loads(printed.out)["error"]
    assert (error["code"], error["message"]) == ("knowledge_terminated", describe_interruption(output))
    assert printed.err == f"Error: {describe_interruption(output)}\n"
