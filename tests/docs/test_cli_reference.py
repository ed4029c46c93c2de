"""The reference of the command line is the one that the commands give."""

from __future__ import annotations

import pytest

from publish_knowledge.cli.main import COMMANDS, load_command
from tests.docs.cli_reference import PATH, build_reference, list_help_texts
from tests.support.pages import page


def test_the_reference_is_current() -> None:
    assert page(PATH).text == build_reference(), "run: python -m tests.docs.cli_reference"


def test_the_reference_has_every_option_of_every_command() -> None:
    texts = dict(list_help_texts())
    for name in COMMANDS:
        parameters = load_command(name).params
        options = [option for parameter in parameters for option in parameter.opts if option.startswith("--")]
        assert options
        assert [option for option in options if option not in texts[f"knowledge {name}"]] == []


def test_the_reference_does_not_depend_on_terminal_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = build_reference()
    for name, value in {"COLUMNS": "40", "EMBEDDING": "local-small", "LANCEDB_URI": "elsewhere"}.items():
        monkeypatch.setenv(name, value)
    assert build_reference() == before
