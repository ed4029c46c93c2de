"""What every page says of files, make targets and messages holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, tracked_texts
from tests.support.pages import Page, code_spans, has_message, page, pages

PAGES = pages()
PATH = re.compile(
    r"(?<![\w./])(?:(?:tests|functions|layers|tools|benchmarks|knowledge|search_knowledge|publish_knowledge)/[\w/-]+(?:\.py)?"
    r"|(?:[\w-]+/)*\w+\.py)(?![\w.])"
)
NAME = re.compile(r"(?<![\w/.-])_?[a-z]+(?:_[a-z\d]+)+(?![\w/.-])|\b(?:[A-Z][a-z\d]+){2,}\b")
"""A name of several words, such as a function's or a class's: one that ordinary text does not have."""
FOREIGN = {
    "tools/list",  # a method of MCP
    *("knowledge/X", "lancedb/_lancedb.py", "botocore/utils.py"),  # a placeholder, and files of libraries
    *("read_consistency_interval", "current_task", "ContainerMetadataFetcher"),  # of LanceDB, asyncio and botocore
}
SOURCES = (".py", ".toml", ".yaml", ".yml", ".json", ".in", "Makefile")
NAMES = {str(part) for path, _ in tracked_texts() for part in (Path(path), *Path(path).parents)}
WORDS = {
    word
    for path, text in tracked_texts()
    if path.endswith(SOURCES) and path != "tests/docs/test_pages.py"
    for word in re.findall(r"\w+", text)
}


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
    assert {ROOT / one.path for one in PAGES} - reached <= {ROOT / "README.md"}


def code_of(one: Page) -> str:
    """Whatever a page says in code: spans and pictures of sequences."""
    return "\n".join([*code_spans(one.prose), *one.blocks("mermaid")])


def missing_files(text: str) -> list[str]:
    """Files and folders of the project that are named, but not there."""
    named = set(PATH.findall(text)) - FOREIGN
    return sorted(path for path in named if not any(f"/{name}".endswith(f"/{path.rstrip('/')}") for name in NAMES))


def missing_names(text: str) -> list[str]:
    """Functions, classes, settings and the like that are named, but occur nowhere in the source."""
    return sorted(set(NAME.findall(text)) - WORDS - FOREIGN)


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.path)
def test_files_and_names_in_the_documentation_exist(one: Page) -> None:
    assert missing_files(code_of(one)) == []
    assert missing_names(code_of(one)) == []


def test_foreign_names_are_still_mentioned() -> None:
    text = "\n".join(map(code_of, PAGES))
    assert [name for name in sorted(FOREIGN) if name not in text] == []


def test_a_file_or_a_name_that_is_gone_is_caught() -> None:
    files = "make test ARGS=knowledge/search/fusion.py fusion.py tests/behaviour .data/x.py gone.py search/gone.py"
    assert missing_files(files) == ["gone.py", "search/gone.py"]
    assert missing_names("fuse_all KnowledgeService.search start_embedding GoneService local-small") == [
        "GoneService",
        "fuse_all",
    ]


def test_messages_with_a_remedy_are_ones_that_the_code_says() -> None:
    stated = [span for message, _ in page("README.md").table("message") for span in code_spans(message)]
    assert len(stated) > 10
    assert [message for message in stated if not has_message(message)] == []


def test_a_message_that_nobody_says_is_caught() -> None:
    assert has_message("The base … is archived. Restore it")
    assert not has_message("The base … is archived. Reboot it")


def is_decision(one: Page) -> bool:
    return re.match(r"docs/decisions/\d", one.path) is not None


def test_decisions_are_short_and_have_their_four_parts() -> None:
    for one in PAGES:
        if is_decision(one):
            assert re.findall(r"^## (.+)$", one.text, re.MULTILINE) == [
                "Context",
                "Decision",
                "Measured",
                "Consequences",
            ], one.path


def test_decisions_are_listed_by_their_titles() -> None:
    titles = {f"[{one.text.partition(chr(10))[0][2:]}]({Path(one.path).name})" for one in PAGES if is_decision(one)}
    assert {row[1] for row in page("docs/decisions/README.md").table("number")} == titles
