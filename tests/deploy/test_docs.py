"""The deployment documents speak of the template as it is, and their examples can be pasted."""

from __future__ import annotations

import ast
import json
import re
from typing import Final

import pytest

from tests.architecture.source import ROOT
from tests.support.template import raw_template

DOCS: Final = ROOT / "docs"
NAMES: Final = ("connect", "deploy", "operate", "security")


def text_of(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", text_of(name), re.MULTILINE | re.DOTALL)


def test_the_table_of_parameters_is_the_templates() -> None:
    table = text_of("deploy").partition("## Parameters")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(raw_template()["Parameters"])


def test_the_alarms_documented_are_the_templates() -> None:
    stated = set(re.findall(r"^\| `(\w+Alarm)`", text_of("operate"), re.MULTILINE))
    alarms = {name for name, resource in raw_template()["Resources"].items() if resource["Type"].endswith("::Alarm")}
    assert stated == alarms


def test_the_metering_query_is_the_one_that_the_stack_saves() -> None:
    (query,) = blocks("operate", "text")
    assert query == raw_template()["Resources"]["UnitsByCaller"]["Properties"]["QueryString"]


@pytest.mark.parametrize("name", NAMES)
def test_json_and_python_can_be_pasted(name: str) -> None:
    for block in blocks(name, "json"):
        json.loads(block)
    for block in blocks(name, "python"):
        ast.parse(block)


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    for target, anchor in re.findall(r"\]\(([\w./-]+\.md)(?:#([\w-]+))?\)", text_of(name)):
        path = DOCS / target
        assert path.is_file(), target
        headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}
