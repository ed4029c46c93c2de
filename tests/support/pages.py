"""The documentation as values: pages with code blocks, tables and links; and the messages that the code has."""

from __future__ import annotations

import ast
import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Final

from tests.architecture.source import ROOT, shipped_files, tracked_texts

_LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCE: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown file; `path` is relative to the project."""

    path: str
    text: str

    @property
    def folder(self) -> Path:
        return (ROOT / self.path).parent

    @property
    def prose(self) -> str:
        """The text without its code blocks."""
        return _FENCE.sub("", self.text)

    @property
    def anchors(self) -> set[str]:
        """What a link may name after `#`."""
        headings = _HEADING.findall(self.prose)
        return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def links(self) -> Iterator[tuple[str, str]]:
        """Target and anchor of every link that stays in the project."""
        return ((target, anchor) for target, anchor in _LINK.findall(self.prose))

    def blocks(self, language: str) -> list[str]:
        """Code blocks of one language, in order."""
        return [text for name, text in _FENCE.findall(self.text) if name == language]

    def commands(self) -> list[str]:
        """Command lines of the console blocks, those in lists too, continued lines joined."""
        lines = re.sub(r"\\\n", "", "".join(map(dedent, self.blocks("console"))))
        return [command.strip() for command in re.split(r"\n(?=\S)", lines) if command.strip()]

    def table(self, heading: str) -> list[list[str]]:
        """Rows of the table whose header begins with a cell, as cells."""
        lines = self.text.splitlines()
        first = next(at for at, line in enumerate(lines) if line.startswith(f"| {heading} |")) + 2
        last = next((at for at in range(first, len(lines)) if not lines[at].startswith("|")), len(lines))
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first:last]]


def page(path: str) -> Page:
    """One page."""
    return Page(path, (ROOT / path).read_text(encoding="utf-8"))


def pages() -> list[Page]:
    """Every Markdown page of the documentation; texts that are published as knowledge are none."""
    found = (Page(path, text) for path, text in tracked_texts() if path.endswith(".md"))
    return [one for one in found if is_documentation(one.path)]


def is_documentation(path: str) -> bool:
    """Whether a Markdown file speaks of the product."""
    return not path.startswith(("examples/knowledge/", "examples/revisions/"))


def code_spans(text: str) -> list[str]:
    """Texts between single backquotes."""
    return re.findall(r"`([^`\n]+)`", text)


@cache
def collect_messages() -> tuple[str, ...]:
    """Every text in the code, with `…` for what varies; the Makefile; and the system's message for a port in use."""
    trees = [ast.parse(text) for _, text in shipped_files()]
    found = [_template(node) for tree in trees for node in ast.walk(tree)]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return (*filter(None, found), makefile, os.strerror(errno.EADDRINUSE))


def has_message(message: str) -> bool:
    """Whether the code has a message, `…` standing for anything."""
    pattern = re.compile(".*".join(re.escape(part.strip()) for part in message.split("…")), re.DOTALL)
    return any(pattern.search(known) for known in collect_messages())


def _template(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) or "…" for part in node.values)
    return ""
