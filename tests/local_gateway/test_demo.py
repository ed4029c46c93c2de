"""The checks of `make demo`; tests/behaviour/test_sample_base.py runs the whole demonstration once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_gateway import demo
from local_gateway.demo import Caller, WrongAnswerError, require_equal
from local_gateway.events import PAYLOADS, Developer
from tests.support.calls import switched_on
from tests.support.local_front import ANA

URLAUB = {"query": "Urlaub beantragen", "expect": "handbook/urlaub.md", "language": "de"}


@pytest.fixture(params=PAYLOADS)
def caller(request: pytest.FixtureRequest, dataset: str) -> Iterator[Caller]:
    with switched_on(dataset) as handler:
        yield Caller(handler, ANA, request.param, print)


def test_the_right_first_hit_is_reported_with_its_score(caller: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    demo.check_search(caller, URLAUB)
    query, hit = capsys.readouterr().out.splitlines()
    assert query == "  de  Urlaub beantragen"
    assert "handbook/urlaub.md: " in hit


def test_a_wrong_answer_is_noticed(caller: Caller) -> None:
    with pytest.raises(WrongAnswerError, match="the first hit"):
        demo.check_search(caller, URLAUB | {"expect": "handbook/sick-days.md"})
    with pytest.raises(WrongAnswerError, match="is 'knowledge_error', expected 'knowledge'"):
        caller.call("knowledge", knowledge_item_id="ki_none")


def test_a_caller_without_rights_finds_nothing(caller: Caller) -> None:
    with pytest.raises(WrongAnswerError, match="the first hit"):
        demo.check_search(Caller(caller.handle, Developer("nobody"), caller.payload, print), URLAUB)


def test_a_result_of_the_stateless_era_is_read_as_one_of_the_handshake_era(caller: Caller) -> None:
    versions = (demo.STATELESS, demo.HANDSHAKE)
    first, second = (caller.send("tools/list", {}, version)["tools"] for version in versions)
    assert first == second


def test_what_is_compared_is_named() -> None:
    require_equal("the answer", 1, 1)
    with pytest.raises(WrongAnswerError, match=r"^the answer is 1, expected 2$"):
        require_equal("the answer", 1, 2)


def test_a_line_shows_the_controls_of_titles_and_excerpts(capsys: pytest.CaptureFixture[str]) -> None:
    demo.print_line("\nfound: a\x1b[31mb\x9b\u202e")
    assert capsys.readouterr().out == "\nfound: a\\x1b[31mb\\x9b\\u202e\n"


def test_an_existing_folder_is_not_published_into(tmp_path: Path) -> None:
    lines: list[str] = []
    assert demo.main(["--uri", str(tmp_path)], report=lines.append) == 1
    assert lines == [f"FAILED: {tmp_path} is there already; the demonstration needs a new folder."]
