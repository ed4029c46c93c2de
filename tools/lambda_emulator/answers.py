"""Events from files, and whether an answer is the expected one: see `events/README.md` for the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One event file: what it is about, the event, and a part of the answer."""

    name: str
    event: Any
    expected: Mapping[str, Any]


def sample(path: Path) -> Sample:
    """Read an event file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return Sample(path.stem, content["event"], content["expected"])


def readable(answer: Any) -> Any:  # noqa: ANN401 - whatever JSON a function answers
    """An answer with its body, which a gateway takes as text, parsed where it is JSON."""
    if not isinstance(answer, dict) or not isinstance(answer.get("body"), str):
        return answer
    try:
        return {**answer, "body": json.loads(answer["body"])}
    except ValueError:
        return {**answer, "body": answer["body"] or None}


def differences(expected: object, found: object, position: str = "answer") -> Iterator[str]:
    """Where an answer lacks something of the expected part, one line each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key in found:
                yield from differences(value, found[key], f"{position}.{key}")
            else:
                yield f"{position}.{key} is missing"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) <= len(found):
        for at, value in enumerate(expected):
            yield from differences(value, found[at], f"{position}[{at}]")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{position} is {json.dumps(found)[:200]}, expected {json.dumps(expected)[:200]}"
