"""Read event files and compare answers with the expected ones; `events/README.md` has the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class SampleEvent:
    """One event file: its name, the event, and the expected part of the answer."""

    name: str
    event: Any
    expected: Mapping[str, Any]


def read_event(path: Path) -> SampleEvent:
    """Read an event file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return SampleEvent(path.stem, content["event"], content["expected"])


def parse_body(answer: Any) -> Any:  # noqa: ANN401 - whatever JSON a function answers
    """Return an answer with its body parsed where that is JSON; gateways take the body as text."""
    if not isinstance(answer, dict) or not isinstance(answer.get("body"), str):
        return answer
    try:
        return {**answer, "body": json.loads(answer["body"])}
    except ValueError:
        return {**answer, "body": answer["body"] or None}


def find_differences(expected: object, found: object, position: str = "answer") -> Iterator[str]:
    """Yield a line for each expected value that the answer lacks or has otherwise."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key in found:
                yield from find_differences(value, found[key], f"{position}.{key}")
            else:
                yield f"{position}.{key} is missing"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) <= len(found):
        for at, value in enumerate(expected):
            yield from find_differences(value, found[at], f"{position}[{at}]")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{position} is {json.dumps(found)[:200]}, expected {json.dumps(expected)[:200]}"
