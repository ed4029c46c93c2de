"""Requests and answers of the documentation are real ones; test_newcomer.py runs its commands."""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest

from knowledge.claims import CONTEXT_MARK
from local_gateway import __main__ as gateway
from local_gateway.front import Front
from search_knowledge.app import Handler
from tests.docs.conftest import ANA
from tests.support.calls import Json, call
from tests.support.pages import page

README = page("README.md")
ADDRESS: Final = f"http://127.0.0.1:{gateway.PORT}/mcp"
VARYING: Final = ("published_at", "scores")
ROUNDING: Final = 0.02
"""Scores may differ in their last digits from one processor to the next."""


@pytest.fixture(scope="module")
def front(handler: Handler) -> Iterator[Front]:
    with Front(handler, ANA) as made:
        serving = threading.Thread(target=made.serve_forever, args=(0.05,))
        serving.start()
        yield made
        made.shutdown()
        serving.join()


def answer_of(command: str, url: str) -> Json:
    """What a `curl` command gets: its headers and body, sent as they are written."""
    words = shlex.split(command)
    assert words[:2] == ["curl", "-s"]
    assert words[2] == ADDRESS
    options = list(zip(words[3::2], words[4::2], strict=True))
    headers = dict(value.split(": ", 1) for option, value in options if option == "-H")
    (body,) = (value for option, value in options if option == "-d")
    answer = httpx2.post(url, headers=headers, content=body, timeout=60)
    assert answer.status_code == 200
    result: Json = answer.json()["result"]
    return result


def test_the_readme_fits_and_its_requests_work(front: Front) -> None:
    assert len(README.text.splitlines()) <= 150
    requests = [command for command in README.commands() if command.startswith("curl")]
    listed, found, read, listed_again, found_again = (answer_of(command, front.url) for command in requests)
    for answer in (listed, listed_again):
        assert [tool["name"] for tool in answer["tools"]] == ["search_knowledge"]
    for answer in (found, found_again):
        assert answer["structuredContent"]["results"][0]["source"]["uri"] == "handbook/urlaub.md"
    assert read["structuredContent"]["content"].startswith("\n# Urlaub beantragen\n")


def test_the_options_of_the_gateway_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gateway.main(["--help"])
    known = capsys.readouterr().out
    stated = re.findall(r'make serve ARGS="([^"]+)"', README.text)
    assert stated
    assert [word for words in stated for word in words.split() if word.startswith("--") and word not in known] == []


def test_the_examples_of_the_tool_are_real_calls(handler: Handler) -> None:
    blocks = [json.loads(block) for block in page("docs/tool.md").blocks("json")]
    assert len(blocks) == 6
    for arguments, stated in zip(blocks[::2], blocks[1::2], strict=True):
        claims = {"sub": ANA.owner, "scope": "knowledge:read", "teams": json.dumps(ANA.teams), **CONTEXT_MARK}
        envelope = call(handler, arguments, authorizer=claims)
        assert without(envelope, VARYING) == without(stated, VARYING)
        assert shape(envelope) == shape(stated)
        assert figures(envelope) == pytest.approx(figures(stated), abs=ROUNDING)


def without(value: Any, names: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value without the fields of these names, at any depth."""
    if isinstance(value, dict):
        return {key: without(one, names) for key, one in value.items() if key not in names}
    return [without(one, names) for one in value] if isinstance(value, list) else value


def shape(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The names of all fields, in order."""
    if isinstance(value, dict):
        return [(key, shape(one)) for key, one in value.items()]
    return [shape(one) for one in value] if isinstance(value, list) else None


def figures(envelope: Json) -> list[float]:
    """The scores of all results, in order."""
    return [figure for hit in envelope.get("results", ()) for figure in hit["scores"].values()]
