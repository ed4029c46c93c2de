"""Each page's commands run in a fresh clone, alone, and after every other page on the same dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.docs.newcomer import OF_A_STACK, Shell, open_shell
from tests.support.pages import Page, page, pages

DEPLOY, OPERATE, EVALUATE = map(page, ("docs/deploy.md", "docs/operate.md", "docs/evaluate.md"))
AFTER: Final = {OPERATE.path: DEPLOY}
"""Pages on what another page has made."""

START: Final = ["make setup", ". .venv/bin/activate"]
FIGURE: Final = re.compile(r"(?<![\w.])[+-]?\d\.\d+")
ROUNDING: Final = 0.02
"""Vectors, and so measures, may differ a little from one processor to the next."""


def runs_something(one: Page) -> bool:
    return any(re.match(r"(\S*/)?(knowledge|python)\b", command) for command in one.commands())


RUN: Final = [one for one in pages() if runs_something(one)]


@pytest.fixture
def folder(clone: Path, tmp_path: Path) -> Path:
    """A fresh clone."""
    (tmp_path / "examples").symlink_to(clone / "examples")
    return tmp_path


@pytest.fixture
def shell(folder: Path, clone: Path) -> Iterator[Shell]:
    with open_shell(folder, clone / "cache") as made:
        yield made


def test_the_pages_that_are_run_are_those_with_commands() -> None:
    assert {one.path for one in RUN} == {
        "README.md",
        "examples/README.md",
        *(f"docs/{name}.md" for name in ("deploy", "evaluate", "operate", "publish", "python", "sync", "tool")),
    }


@pytest.mark.parametrize("one", RUN, ids=lambda one: one.path)
def test_a_page_begins_with_the_environment_and_the_one_dataset(one: Page) -> None:
    commands = [command.partition("#")[0].strip() for command in one.commands()]
    first = next(at for at, command in enumerate(commands) if re.match(r"knowledge|python", command))
    before = [command.replace(".venv-deploy/.installed", "").strip() for command in commands[:first]]
    assert [command for command in before if command in START] == START
    addresses = re.findall(r"LANCEDB_URI=(\S+)", "\n".join(before)) or re.findall(r'URI = "(.+)"', one.text)
    assert {OF_A_STACK.get(address, address) for address in addresses} == {"./dataset"}
    assert not re.search(r"--uri \S|EMBEDDING=|--embedding \S", "\n".join(filter(is_ours, commands)))


def is_ours(command: str) -> bool:
    return command.startswith("knowledge")


@pytest.mark.slow
@pytest.mark.parametrize("one", RUN, ids=lambda one: one.path)
def test_a_page_runs_alone_in_a_fresh_clone(one: Page, shell: Shell, folder: Path, clone: Path) -> None:
    if one.path in AFTER:
        with open_shell(folder, clone / "cache") as earlier:
            earlier.follow(AFTER[one.path])
    shell.follow(one)
    assert_output(one, shell)
    assert shell.outputs or shell.defined


@pytest.mark.slow
def test_pages_run_in_any_order_on_one_dataset(folder: Path, clone: Path) -> None:
    # Forwards, then backwards: each page comes after every other one.
    for one in (*RUN, *RUN[-2::-1]):
        with open_shell(folder, clone / "cache") as shell:
            shell.follow(AFTER.get(one.path, one))
            shell.follow(one)
            assert_output(one, shell)


def assert_output(one: Page, shell: Shell) -> None:
    """The figures that the page on evaluation shows are those that the command prints."""
    if one.path != EVALUATE.path:
        return
    (stated,) = one.blocks("text")
    printed = "\n".join(shell.outputs[-1].splitlines()[: len(stated.splitlines())])
    assert FIGURE.sub("…", printed).split() == FIGURE.sub("…", stated).split()
    figures = [float(figure) for figure in FIGURE.findall(stated)]
    assert [float(figure) for figure in FIGURE.findall(printed)] == pytest.approx(figures, abs=ROUNDING)


@pytest.mark.parametrize(
    ("commands", "fault"),
    [
        (["knowledge list"], "not activated"),
        ([".venv/bin/knowledge list"], "not activated"),
        (["make serve", ". .venv/bin/activate"], "There is no .venv"),
        (["make setup", "python"], "not activated"),
        ([*START, ".venv/bin/knowledge list"], "a path is given"),
        ([*START, "knowledge list --team support"], "Missing option '--uri'"),
        ([*START, "export LANCEDB_URI=./dataset", "knowledge list --team support"], "There is no dataset"),
    ],
)
def test_what_a_page_does_not_say_is_missing(shell: Shell, commands: list[str], fault: str) -> None:
    *earlier, last = commands
    for command in earlier:
        shell.type(command)
    with pytest.raises(AssertionError, match=fault):
        shell.type(last)
