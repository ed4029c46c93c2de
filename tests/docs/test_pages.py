"""What every page says of files, make targets and messages holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, tracked_texts
from tests.support.pages import Page, code_spans, is_said, page, pages

PAGES = pages()
PATH = re.compile(
    r"(?:tests|functions|layers|tools|knowledge|search_knowledge|publish_knowledge)/[\w/]+(?:\.py)?|\w+\.py"
)
NOT_FILES = {"tools/list", "knowledge/X"}
"""A method of the protocol, and a placeholder."""
NAMES = {str(part) for path, _ in tracked_texts() for part in (Path(path), *Path(path).parents)}


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.path)
def test_links_lead_somewhere(one: Page) -> None:
    for target, anchor in one.links():
        path = one.folder / target if target else ROOT / one.path
        assert path.exists(), target
        if anchor:
            assert anchor in page(str(path.resolve().relative_to(ROOT))).anchors, f"{target}#{anchor}"


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.path)
def test_make_targets_exist(one: Page) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    stated = [code for code in [*code_spans(one.prose), *one.commands()] if code.startswith("make ")]
    named = {word for code in stated for word in re.findall(r"make(?: -\w+)*(?: \w+=\S+)* ([a-z-]+)\b", code)}
    assert named <= targets


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.path)
def test_json_can_be_pasted(one: Page) -> None:
    for block in one.blocks("json"):
        json.loads(block)


def test_every_page_of_the_documentation_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [page("README.md")]
    while waiting:
        one = waiting.pop()
        found = {(one.folder / target).resolve() for target, _ in one.links() if target.endswith(".md")}
        waiting += [page(str(path.relative_to(ROOT))) for path in found - reached]
        reached |= found
    every = {ROOT / one.path for one in PAGES if not one.path.startswith("docs/decisions/")}
    assert every - reached <= {ROOT / "README.md"}


def missing_files(text: str) -> list[str]:
    """Files and folders of the project that code spans name, but that are not there."""
    spans = {span for span in code_spans(text) if PATH.fullmatch(span)} - NOT_FILES
    return sorted(span for span in spans if not any(f"/{name}".endswith(f"/{span.rstrip('/')}") for name in NAMES))


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.path)
def test_files_that_are_named_exist(one: Page) -> None:
    assert missing_files(one.text) == []


def test_a_file_that_is_gone_is_caught() -> None:
    text = (
        "`knowledge/search/fusion.py`, `fusion.py`, `tests/behaviour` and `.data/x.py` are fine, `ranking.py` is gone."
    )
    assert missing_files(text) == ["ranking.py"]


def test_messages_with_a_remedy_are_ones_that_the_code_says() -> None:
    stated = [span for message, _ in page("README.md").table("message") for span in code_spans(message)]
    assert len(stated) > 10
    assert [message for message in stated if not is_said(message)] == []


def test_a_message_that_nobody_says_is_caught() -> None:
    assert is_said("The base … is archived. Restore it")
    assert not is_said("The base … is archived. Reboot it")


def test_decisions_are_short_and_have_their_four_parts() -> None:
    for one in PAGES:
        if re.match(r"docs/decisions/\d", one.path):
            assert re.findall(r"^## (.+)$", one.text, re.MULTILINE) == [
                "Context",
                "Decision",
                "Measured",
                "Consequences",
            ], one.path
