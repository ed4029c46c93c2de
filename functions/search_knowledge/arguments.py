"""The tool's arguments, declared once: schema, checks and error texts all use `ARGUMENTS`.

`null` means the default for every argument; an empty or blank string means that the argument is absent. Ids are never
trimmed or otherwise changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from knowledge.errors import InvalidRequestError, ItemRequiredError, QueryRequiredError
from knowledge.requests import (
    DEFAULT_ALPHA,
    DEFAULT_MODE,
    DEFAULT_RESULTS,
    DEFAULT_WINDOW,
    MAX_RESULTS,
    MODES,
    ReadRequest,
    SearchRequest,
    parse_mode,
)
from knowledge.text import is_unicode

Kind = Literal["string", "integer", "number"]
Value = str | int | float

MAX_QUERY_CHARS: Final = 2_000
MAX_WINDOW: Final = 10_000

_SHOWN_CHARS: Final = 60
"""Characters of an unknown argument's name that an error quotes: enough to recognize it."""

_SHOWN_NUMBER: Final = 10**18
"""A larger number is described, not printed: it may have thousands of digits."""

_ARTICLES: Final = {"string": "a string", "integer": "an integer", "number": "a number"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. Bounds are inclusive; `max_chars` counts code points, before any trimming."""

    name: str
    kind: Kind
    default: Value
    description: str
    minimum: int | None = None
    maximum: int | None = None
    max_chars: int | None = None

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the argument."""
        bounds = {"minimum": self.minimum, "maximum": self.maximum, "maxLength": self.max_chars}
        given = {key: bound for key, bound in bounds.items() if bound is not None}
        return {"type": self.kind, "default": self.default, **given, "description": self.description}

    @property
    def rule(self) -> str:
        """The bounds in words, as error texts and the documentation give them; empty if there are none."""
        if self.max_chars is not None:
            return f"at most {self.max_chars} characters"
        if self.minimum is None:
            return ""
        return f"{self.minimum} or more" if self.maximum is None else f"{self.minimum}..{self.maximum}"

    def check(self, value: object) -> Value:
        """The value to use; raises `InvalidRequestError` that names the argument and the rule."""
        if value is None:
            return self.default
        if self.kind == "string":
            return self._text(value)
        return self._whole(value) if self.kind == "integer" else self._share(value)

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise self._wrong_type(value)
        if self.max_chars is not None and len(value) > self.max_chars:
            raise self._wrong(f"{self.rule}, got {len(value)}")
        if not is_unicode(value):
            raise self._wrong("valid Unicode text, got a lone surrogate")
        return value if value.strip() else str(self.default)

    def _whole(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong_type(value)
        if isinstance(value, float) and not value.is_integer():
            raise self._wrong_type(value)
        number = int(value)
        low, high = self.minimum, self.maximum
        if (low is not None and number < low) or (high is not None and number > high):
            raise self._wrong(f"{self.rule}, got {_describe(number)}")
        return number

    def _share(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or _is_nan(value):
            raise self._wrong_type(value)
        # Compared before it becomes a float: an integer may be too large for one. A negative zero becomes 0.
        return float(min(1, max(0, value)))

    def _wrong_type(self, value: object) -> InvalidRequestError:
        return self._wrong(f"{_ARTICLES[self.kind]}, got {_describe(value)}")

    def _wrong(self, rest: str) -> InvalidRequestError:
        return InvalidRequestError(f"{self.name} must be {rest}", field=self.name)


ARGUMENTS: Final = (
    Argument(
        "query",
        "string",
        "",
        "What to look for, in natural language: a question or a topic, in any language. Starts a search; leave it out "
        "when you read an item.",
        max_chars=MAX_QUERY_CHARS,
    ),
    Argument(
        "knowledge_base_id",
        "string",
        "",
        "Exact id of a knowledge base. Narrows a search to it; in a read, the item must belong to it.",
    ),
    Argument(
        "knowledge_item_id",
        "string",
        "",
        "Exact id of an item, as a search result or a reference gives it. Reads that item instead of searching.",
    ),
    Argument(
        "knowledge_revision_id",
        "string",
        "",
        "Exact id of one immutable revision of that item, to read it as it was then. Needs knowledge_item_id; without "
        "it the current revision is read.",
    ),
    Argument(
        "offset",
        "integer",
        0,
        "Read: where the window starts, in characters (Unicode code points) from 0. Take it from `continuation`.",
        minimum=0,
    ),
    Argument(
        "limit_chars",
        "integer",
        DEFAULT_WINDOW,
        "Read: the most characters to return.",
        minimum=1,
        maximum=MAX_WINDOW,
    ),
    Argument(
        "max_results",
        "integer",
        DEFAULT_RESULTS,
        "Search: the most items to return.",
        minimum=1,
        maximum=MAX_RESULTS,
    ),
    Argument(
        "mode",
        "string",
        DEFAULT_MODE,
        f"Search: how to rank, one of {', '.join(MODES)}. Any other text means {DEFAULT_MODE}.",
    ),
    Argument(
        "alpha",
        "number",
        DEFAULT_ALPHA,
        "Search in hybrid mode: the weight of exact words against meaning, from 0 (meaning only) to 1 (words only). "
        "Values outside are clamped.",
    ),
)


def input_schema() -> dict[str, Any]:
    """JSON Schema of the arguments object."""
    properties = {argument.name: argument.schema() for argument in ARGUMENTS}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def parse(arguments: Mapping[str, object]) -> SearchRequest | ReadRequest:
    """Parse the arguments into a request; raises an error of the caller's for the first thing that is wrong.

    Types and ranges come first, in table order, then unknown names, then the shape.
    """
    given: dict[str, Any] = {argument.name: argument.check(arguments.get(argument.name)) for argument in ARGUMENTS}
    _refuse_unknown(arguments)
    item, revision, query = given["knowledge_item_id"], given["knowledge_revision_id"], given["query"].strip()
    if query and (item or revision):
        raise InvalidRequestError(
            "Give either `query` to search, or `knowledge_item_id` with an optional `knowledge_revision_id` to read; "
            "not both."
        )
    if revision and not item:
        raise ItemRequiredError
    if not query and not item:
        raise QueryRequiredError
    base = given["knowledge_base_id"]
    if item:
        return ReadRequest(item, revision, base, given["offset"], given["limit_chars"])
    return SearchRequest(query, base, given["max_results"], parse_mode(given["mode"]), given["alpha"])


def _refuse_unknown(arguments: Mapping[str, object]) -> None:
    known = {argument.name for argument in ARGUMENTS}
    for name in arguments:
        if name not in known:
            shown = name[:_SHOWN_CHARS].encode("utf-8", "backslashreplace").decode()
            raise InvalidRequestError(
                f"{shown} is not an argument of this tool. It takes {', '.join(a.name for a in ARGUMENTS)}; whose "
                "knowledge is searched follows from the token alone.",
                field=shown,
            )


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _describe(value: object) -> str:
    """The value as an error text quotes it: a number as it is, everything else by its JSON type."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (int, float)):
        return _number(value)
    return "a list" if isinstance(value, list) else "an object"


def _number(value: float) -> str:
    if abs(value) < _SHOWN_NUMBER:
        return str(value)
    return "a far larger number" if value > 0 else "a far smaller number" if value < 0 else "NaN"
