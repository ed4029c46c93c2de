"""Tables that repeat what the code declares say the same."""

from __future__ import annotations

import ast
import json
from typing import get_args

from knowledge.embedding.bedrock import BEDROCK_PREFIX, COHERE, TITAN
from knowledge.embedding.providers import LOCAL, LOCAL_SMALL
from knowledge.errors import KnowledgeError
from knowledge.requests import MODES
from knowledge.store.schema import BASE, HEAD, HISTORY, PASSAGE
from publish_knowledge.cli.main import COMMANDS, load_command
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.publishing.plan import Action
from publish_knowledge.sources.files import KINDS
from publish_knowledge.sources.front_matter import FrontMatter, parse_front_matter
from search_knowledge.arguments import ARGUMENTS
from tests.architecture.source import shipped_files
from tests.support.pages import code_spans, page

TOOL = page("docs/tool.md")
PUBLISH = page("docs/publish.md")


def first_spans(rows: list[list[str]]) -> list[str]:
    """The code in the first cell of each row."""
    return [code_spans(row[0])[0] for row in rows]


def test_the_arguments() -> None:
    assert TOOL.table("name") == [
        [f"`{one.name}`", one.kind, f"`{json.dumps(one.default)}`", one.rule, one.description] for one in ARGUMENTS
    ]


def test_the_modes() -> None:
    assert first_spans(TOOL.table("mode")) == list(MODES)


def test_the_errors() -> None:
    stated = {
        (*code_spans(code), *code_spans(kind), retryable == "yes") for code, kind, retryable, _ in TOOL.table("code")
    }
    assert stated == {(one.code, one.envelope, one.retryable) for one in KnowledgeError.__subclasses__()}


def test_the_exit_codes() -> None:
    stated = {int(number): name for number, name, _ in PUBLISH.table("code")}
    assert stated == {code.value: code.name.lower().replace("_", " ") for code in ExitCode}


def test_the_actions() -> None:
    assert first_spans(PUBLISH.table("action")) == list(get_args(Action))


def test_the_findings_of_the_doctor() -> None:
    stated = {code_spans(code)[0]: mended for code, mended, _ in PUBLISH.table("finding")}
    declared = declared_findings()
    assert stated.keys() == declared.keys()
    for code, repairable in declared.items():
        if repairable is not None:
            assert stated[code].startswith("yes" if repairable else "no"), code


def declared_findings() -> dict[str, bool | None]:
    """Every finding in the code, and whether it can be mended; `None` where that depends."""
    calls = [node for _, text in shipped_files() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    found: dict[str, bool | None] = {}
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == "Finding" and isinstance(call.args[0], ast.Constant):
            (mended,) = (word.value for word in call.keywords if word.arg == "repairable")
            fixed = mended.value if isinstance(mended, ast.Constant) else None
            found[str(call.args[0].value)] = fixed if isinstance(fixed, bool) else None
    return found


def test_the_embeddings() -> None:
    stated = [span for name, *_ in PUBLISH.table("name") for span in code_spans(name)]
    assert stated == [LOCAL, LOCAL_SMALL, BEDROCK_PREFIX + TITAN, BEDROCK_PREFIX + COHERE]


def test_the_kinds_of_files_and_the_front_matter() -> None:
    assert all(f"`{ending}`" in PUBLISH.text for ending in KINDS)
    (block,) = PUBLISH.blocks("yaml")
    assert parse_front_matter(block) == FrontMatter("", "Support opening hours", "en", "support-opening-hours")


def test_every_option_that_is_reported_exists() -> None:
    given = [one for name in COMMANDS for one in load_command(name).params]
    options = {name for one in given for name in (*one.opts, *one.secondary_opts)}
    stated = {word for span in code_spans(PUBLISH.prose) for word in span.split() if word.startswith("--")}
    assert stated - options - {"--debug", "--help"} == set()


def test_the_kinds_of_rows() -> None:
    spans = [span for row in page("docs/architecture.md").table("table") for span in code_spans(row[1])]
    assert spans == [PASSAGE, HEAD, HISTORY, BASE, PASSAGE]
