"""Write docs/cli.md, the reference of the command line: `python -m tests.docs.cli_reference`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from publish_knowledge.cli.main import COMMANDS, knowledge, load_command
from tests.architecture.source import ROOT

PATH: Final = "docs/cli.md"
WIDTH: Final = 100
"""Columns of a help text, whatever terminal it is generated in."""

INTRODUCTION: Final = """# Command line

Every command with its options, as `knowledge COMMAND --help` prints them. [Publish](publish.md) explains the commands
in the order of their use, [Evaluate search quality](evaluate.md) explains `knowledge eval`.

This page is generated: after a change run `python -m tests.docs.cli_reference`. A test compares the two.
"""


def build_reference() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(f"\n## {name}\n\n```text\n{text}\n```\n" for name, text in list_help_texts())


def list_help_texts() -> Iterator[tuple[str, str]]:
    """Name and help text of the command group and of every command."""
    group = click.Context(knowledge, info_name="knowledge", terminal_width=WIDTH, **knowledge.context_settings)
    yield "knowledge", knowledge.get_help(group)
    for name in COMMANDS:
        command = load_command(name)
        context = click.Context(command, info_name=name, parent=group, terminal_width=WIDTH)
        yield f"knowledge {name}", command.get_help(context)


if __name__ == "__main__":
    (ROOT / PATH).write_text(build_reference(), encoding="utf-8")
