"""End the command at Ctrl-C or SIGTERM at once, whatever it is doing.

Nothing needs to be finished first: a commit is atomic, what a stopped one leaves is completed or ignored by the next
run, and computed vectors are cached batch by batch. So the process ends as if it were killed, but says what is kept. A
thread does it, because the main thread runs no handler while a library's native code works.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

from publish_knowledge.cli.output import ExitCode, Output, build_envelope

SIGNALS: Final = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}
_SHOW_CURSOR: Final = "\r\x1b[K\x1b[?25h"
"""For a terminal: clears the line of a progress bar, which has hidden the cursor."""


def exit_at_signals(output: Output, end: Callable[[int], object] = os._exit) -> None:
    """From now on, report and end the process at the first of `SIGNALS`. Call it in the main thread."""
    receiver, sender = socket.socketpair()
    sender.settimeout(0)
    # The interpreter writes the number of a signal here from its native handler, in whatever thread that runs.
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    for number in SIGNALS:
        signal.signal(number, _ignore)
    threading.Thread(target=_wait, args=(receiver, sender, output, end), name="interrupts", daemon=True).start()


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Keep the default handler from running: the thread ends the process."""


def _wait(receiver: socket.socket, _sender: socket.socket, output: Output, end: Callable[[int], object]) -> None:
    while data := receiver.recv(1):
        code = SIGNALS.get(signal.Signals(data[0]))
        if code is not None:
            report_interruption(output, code)
            end(int(code))


def report_interruption(output: Output, code: ExitCode) -> None:
    """Write the message, and with `--json` the envelope, past Python's buffers, which the main thread may hold."""
    message = describe_interruption(output)
    cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""
    _write(2, f"{cursor}Error: {message}\n")
    if output.as_json:
        _write(1, f"{json.dumps(build_envelope(code, message), ensure_ascii=False, separators=(',', ':'))}\n")


def describe_interruption(output: Output) -> str:
    """Say what is committed, where that is known, and what to do."""
    kept = ""
    if output.committed is not None:
        done, total = output.committed
        kept = f" {done:,} of {total:,} files are committed and kept."
    return f"Interrupted.{kept} The same command again goes on where this one stopped."


def _write(descriptor: int, text: str) -> None:
    """Write to a descriptor unless its reader has stopped reading, which would block."""
    try:
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, text.encode())
    except OSError:
        return
