"""Output of the command: results on stdout, everything else on stderr, and the table of exit codes.

Nothing reaches a terminal around this module. A line is a label: its control characters are shown as escapes, so that
no title, file name or message of a library changes the terminal or breaks a table. JSON's values and texts are exact.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final

import click

from knowledge.errors import (
    DatasetMismatchError,
    InvalidRequestError,
    KnowledgeError,
    ResourceUnavailableError,
    StorageUnavailableError,
)
from knowledge.labels import escape_json, make_lines_visible, make_visible
from publish_knowledge.cli.progress import show_progress

ERROR_TYPE: Final = "knowledge_error"


class ExitCode(IntEnum):
    """The exit codes of all commands. The numbers are a promise to scripts."""

    OK = 0
    PROBLEMS = 1  # some files could not be published, or `doctor` found faults
    USAGE = 2  # the command line is not acceptable; nothing was done
    STORAGE_UNAVAILABLE = 3  # the dataset, its marker or the embedding model cannot be reached
    MISMATCH = 4  # the dataset has another schema version or embedding model
    OVERWRITTEN = 5  # another publisher's revision was overwritten, or a lost race left an item undone
    NOT_FOUND = 6  # no such owner, team, base, item or revision
    REFUSED = 7  # the state of the base or item does not allow it, or too much would be archived
    UNEXPECTED = 70  # a fault of this program
    INTERRUPTED = 130  # stopped by the user; the same command again goes on
    TERMINATED = 143  # stopped by SIGTERM; as above


class UnknownIdError(KnowledgeError):
    """An owner, team, base, item or path that does not exist."""

    code = ResourceUnavailableError.code


_CODES: Final[tuple[tuple[type[KnowledgeError], ExitCode], ...]] = (
    (StorageUnavailableError, ExitCode.STORAGE_UNAVAILABLE),
    (DatasetMismatchError, ExitCode.MISMATCH),
    (ResourceUnavailableError, ExitCode.NOT_FOUND),
    (UnknownIdError, ExitCode.NOT_FOUND),
    (InvalidRequestError, ExitCode.REFUSED),
)

Stage = Callable[[str, int, int], None]


def find_exit_code(error: KnowledgeError) -> ExitCode:
    """The exit code for an expected failure."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.UNEXPECTED)


class Output:
    """Results for people or, with `--json`, exactly one JSON document on stdout."""

    def __init__(self) -> None:
        self.as_json = False
        self.committed: tuple[int, int] | None = None
        """Files of a publish that are committed, and all of them; `None` before it begins."""

    def result(self, document: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Print the document, or the same as lines for a person."""
        if self.as_json:
            # UTF-8 whatever the terminal. What a terminal would obey, or UTF-8 cannot hold, JSON has escapes for.
            text = escape_json(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
            click.echo(text.encode())
            return
        for line in lines:
            _print(make_visible(line))

    def note(self, text: str) -> None:
        """Print something that is no part of the result, on stderr."""
        _print(make_visible(text), err=True)

    def text(self, content: str) -> None:
        """Print a stored text: its exact characters in UTF-8, or, on a terminal, its lines with controls shown."""
        if sys.stdout.isatty():
            _print(make_lines_visible(content), end="")
        else:
            # As bytes: the text layer would translate line ends on some systems, and click removes escape sequences.
            click.echo(content.encode(), nl=False)

    def failure(self, code: ExitCode, message: str, error: KnowledgeError | None = None) -> None:
        """Report a failure on stderr; with `--json` also as an error envelope on stdout."""
        self.note(f"Error: {message}")
        if self.as_json:
            self.result(build_envelope(code, message, error), ())

    @contextmanager
    def progress(self) -> Iterator[Stage]:
        """A callback (stage, done, total), shown as one progress bar if stderr is a terminal."""
        if not sys.stderr.isatty():
            yield self._record
            return
        with show_progress() as bar:

            def update(stage: str, done: int, total: int) -> None:
                self._record(stage, done, total)
                bar.update(stage, done, total)

            yield update

    def _record(self, stage: str, done: int, total: int) -> None:
        if stage == "publish":
            self.committed = done, total


def _print(text: str, *, end: str = "\n", err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    # Not every terminal can show every character: better an escape than no answer.
    click.echo((text + end).encode(stream.encoding or "utf-8", "backslashreplace"), nl=False, err=err)


def build_envelope(code: ExitCode, message: str, error: KnowledgeError | None = None) -> dict[str, Any]:
    """Build the envelope of a failure, as the tool would answer it."""
    name = error.code if error else f"knowledge_{code.name.lower()}"
    field, retryable = (error.field, error.retryable) if error else (None, False)
    kind = error.envelope if error else ERROR_TYPE
    return {"type": kind, "error": {"code": name, "message": message, "field": field, "retryable": retryable}}
