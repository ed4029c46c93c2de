"""A newcomer with a page: a new shell in a clone, where the page's commands are typed in their order.

The shell knows only what a page tells it: `knowledge` and `python` are found after `make setup` and an activation, and
no variable names a dataset or a model before the page exports one. Other programs (`curl`, `aws`, `sam`) are passed
over.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from publish_knowledge.cli.main import knowledge
from tests.support.pages import Page

SETTINGS: Final = ("LANCEDB_URI", "EMBEDDING")
"""What a developer's own shell may have set."""

OF_A_STACK: Final = {"DATASET_URI": "./dataset", "ID": "support"}
"""Words in capitals that a reader replaces: a stack's dataset is the one that every other page uses."""

INSTALLS: Final = frozenset({"setup", "demo"})
"""Targets of `make` that leave an environment."""


@dataclass(slots=True)
class Shell:
    """A shell in the folder of a clone; `outputs` are those of the `knowledge` command, in order."""

    patch: pytest.MonkeyPatch
    is_installed: bool = False
    is_activated: bool = False
    outputs: list[str] = field(default_factory=list)
    defined: dict[str, Any] = field(default_factory=dict)

    def follow(self, page: Page) -> None:
        """Type the commands of a page, then its Python code where it starts a `python`."""
        for command in page.commands():
            self.type(command)
        if "python" in page.commands():
            for block in page.blocks("python"):
                exec(block, self.defined)  # noqa: S102 - the documentation's own code

    def type(self, command: str) -> None:
        """Run one command; asserts that the program is found, and that `knowledge` ends well."""
        program, *words = (
            OF_A_STACK.get(word, word) for word in shlex.split(command.removeprefix("$ "), comments=True)
        )
        if program == "make":
            self.is_installed |= not INSTALLS.isdisjoint(words)
        elif program == ".":
            assert words == [".venv/bin/activate"], command
            assert self.is_installed, f"There is no .venv yet: {command}"
            self.is_activated = True
        elif program == "export":
            for name, _, value in (word.partition("=") for word in words):
                self.patch.setenv(name, OF_A_STACK.get(value, value))
        elif program.rpartition("/")[2] in {"knowledge", "python"}:
            assert self.is_activated, f"The environment is not activated: {command}"
            assert "/" not in program, f"The environment is activated, and yet a path is given: {command}"
            if program == "knowledge":
                self._run(command, words)

    def _run(self, command: str, words: list[str]) -> None:
        result = CliRunner(env=dict(os.environ)).invoke(knowledge, words)
        assert result.exit_code == 0, f"{command}\n{result.output}"
        self.outputs.append(result.stdout)


@contextmanager
def open_shell(folder: Path, cache: Path) -> Iterator[Shell]:
    """A new shell in a clone. Vectors are shared by all shells, because the texts are the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        patch.setenv("KNOWLEDGE_CACHE_DIR", str(cache))
        yield Shell(patch)
