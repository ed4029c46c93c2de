"""A worker answers every request, whatever a converter does."""

from __future__ import annotations

import io
import json

import pytest

from publish_knowledge.conversion import delimited, worker
from publish_knowledge.conversion.protocol import Converted
from publish_knowledge.conversion.worker import convert, serve


def test_requests_are_answered_in_order() -> None:
    requests, answers = io.BytesIO(), io.BytesIO()
    for data in (b"a,b\n1,2\n", b""):
        requests.write(json.dumps({"extension": ".csv", "bytes": len(data)}).encode() + b"\n" + data)
    requests.seek(0)
    serve(requests, answers)
    first, second = map(json.loads, answers.getvalue().splitlines())
    assert first == {"text": "| a | b |\n| --- | --- |\n| 1 | 2 |\n", "title": "", "language": ""}
    assert second == {"error": "It is empty. Write its rows, or remove the file."}


@pytest.mark.parametrize(
    ("error", "reason"), [(MemoryError, "too much memory"), (RecursionError, "too much memory"), (KeyError, "KeyError")]
)
def test_a_converter_that_fails_is_an_answer(
    error: type[Exception], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_data: bytes) -> Converted:
        raise error

    monkeypatch.setattr(delimited, "convert", fail)
    assert reason in convert(".csv", b"a")["error"]


@pytest.mark.parametrize(("text", "reason"), [("x" * 11, "longer than 10 characters"), (" \n", "It has no text")])
def test_a_text_that_cannot_be_published_is_an_error(text: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MAX_TEXT_CHARS", 10)
    monkeypatch.setattr(delimited, "convert", lambda _data: Converted(text))
    assert reason in convert(".csv", b"a")["error"]
