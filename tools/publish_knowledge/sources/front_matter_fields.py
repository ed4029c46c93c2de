"""Fields of a front matter block, in YAML or TOML: strictly where it parses, line by line where it does not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import yaml

Syntax = Literal["yaml", "toml"]

USED: Final = ("title", "language", "lang", "id", "draft", "publish", "published", "status")
"""Fields that publishing reads."""

KNOWN: Final = frozenset(
    (
        *USED,
        *("aliases", "author", "authors", "categories", "cover", "created", "date", "description", "excerpt"),
        *("keywords", "lastmod", "layout", "linktitle", "menu", "nav_order", "parent", "permalink", "hide_title"),
        *("sidebar_label", "sidebar_position", "slug", "summary", "tag", "tags", "template", "toc", "type", "updated"),
        *("url", "version", "weight"),
    )
)
"""Names that site generators and note programs use: a block with one of them is not a sentence between two rules."""

_NULL: Final = "tag:yaml.org,2002:null"
_INVISIBLE: Final = "\ufeff\u200b\u2060\u00a0"
_LINE_ENDS: Final = re.compile(r"\r\n|\r")
_FIELD: Final = re.compile(rf"[{_INVISIBLE}]*([\"']?)([A-Za-z_][\w-]*)\1\s*[:：=]\s*(.*)")
_COMMENT: Final = re.compile(r"\s+#.*")
_QUOTED: Final = re.compile(r"([\"'])((?:(?!\1)[^\\])*)\1\s*(?:#.*)?")


class UnclearFieldsError(ValueError):
    """The block does not parse; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Texts by field name. `unclear` are fields that have something else than one text, each with the reason."""

    texts: Mapping[str, str] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def parse_fields(block: str, syntax: Syntax) -> Fields | None:
    """Fields of the block between the markers; `None` where it is a text, not fields.

    Raises `UnclearFieldsError` where it is neither.
    """
    try:
        fields = _parse_yaml(block) if syntax == "yaml" else _parse_toml(block)
    except UnclearFieldsError as error:
        if not has_known_field(block):
            raise
        return _read_damaged(block, str(error))
    if fields is None and has_known_field(block):
        return _read_damaged(
            block, "Its front matter does not parse: a space is missing after a colon, or is of another kind"
        )
    return fields


def has_known_field(block: str) -> bool:
    """Whether a line begins with a name that front matter usually has."""
    return any(match[2].lower() in KNOWN for match in _match_lines(block))


def read_lines(block: str) -> Fields:
    """Read fields line by line, whatever else the block holds; a value that needs a parser is unclear."""
    texts: dict[str, str] = {}
    unclear: dict[str, str] = {}
    lines = _split_lines(block)
    for number, line in enumerate(lines):
        match = _FIELD.fullmatch(line)
        if match is None or match[2].lower() not in USED:
            continue
        value = _read_value(match[3], lines[number + 1] if number + 1 < len(lines) else "")
        if value is None:
            unclear[match[2]] = "cannot be read"
        else:
            texts[match[2]] = value
    return Fields(texts, unclear)


def _read_damaged(block: str, reason: str) -> Fields:
    fields = read_lines(block)
    names = ", ".join(f"`{name}`" for name in fields.texts) or "nothing"
    warning = f"{reason}. Read from it nevertheless: {names}. Correct it."
    return Fields(fields.texts, dict.fromkeys(fields.unclear, reason), (warning,))


def _read_value(raw: str, following: str) -> str | None:
    """The value on one line; `None` where it takes more than the line to tell."""
    value = raw.strip()
    if value[:1] in ("'", '"'):
        quoted = _QUOTED.fullmatch(value)
        return quoted[2] if quoted else None
    # A further line may belong to the value, unless it is a field, wrongly indented; without a value it is one below.
    is_continued = following[:1] in (" ", "\t") and (not value or _FIELD.fullmatch(following.strip()) is None)
    if value[:1] in tuple("[{|>&*!%@`") or is_continued:
        return None
    plain = _COMMENT.sub("", f" {value}", count=1).strip()
    return "" if plain in ("~", "null") else plain


def _match_lines(block: str) -> Iterable[re.Match[str]]:
    return (match for line in _split_lines(block) if (match := _FIELD.fullmatch(line)))


def _split_lines(block: str) -> list[str]:
    return _LINE_ENDS.sub("\n", block).split("\n")


def _parse_yaml(block: str) -> Fields | None:
    node = _compose(block)
    if node is None or (isinstance(node, yaml.ScalarNode) and node.tag == _NULL):
        return Fields()
    if isinstance(node, yaml.ScalarNode):
        return None
    if not isinstance(node, yaml.MappingNode):
        raise UnclearFieldsError("Its front matter is a list, not `name: value` lines")
    pairs = [(key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
    texts = {name: str(value.value) for name, value in pairs if isinstance(value, yaml.ScalarNode)}
    empty = {name for name, value in pairs if value.tag == _NULL}
    unclear = {name: _NOT_ONE_TEXT for name, value in pairs if not isinstance(value, yaml.ScalarNode)}
    return _keep_last(
        [name for name, _ in pairs], {name: text for name, text in texts.items() if name not in empty}, unclear
    )


_NOT_ONE_TEXT: Final = "must be one text, not a list or a mapping"


def _keep_last(names: list[str], texts: dict[str, str], unclear: dict[str, str]) -> Fields:
    twice = [name for name in dict.fromkeys(names) if name in USED and names.count(name) > 1]
    warnings = tuple(f"Its front matter has `{name}` more than once; the last one counts." for name in twice)
    return Fields(texts, unclear, warnings)


def _compose(block: str) -> yaml.Node | None:
    # Nodes are never constructed as objects: dates stay text, tags have no effect, aliases cannot expand without end.
    try:
        return yaml.compose(block, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = f" (line {mark.line + 2})" if mark else ""
        raise UnclearFieldsError(f"Its front matter does not parse{position}: {error.problem}") from None
    except RecursionError:
        raise UnclearFieldsError("Its front matter is nested too deeply") from None
    except (yaml.YAMLError, ValueError, OverflowError):  # the last two come from escapes beyond Unicode
        raise UnclearFieldsError("Its front matter holds a character that YAML does not allow") from None


def _parse_toml(block: str) -> Fields:
    try:
        table = tomllib.loads("\n".join(_split_lines(block)))
    except RecursionError:
        raise UnclearFieldsError("Its front matter is nested too deeply") from None
    except ValueError as error:  # a syntax error, or a number with more digits than Python reads
        raise UnclearFieldsError(f"Its front matter does not parse as TOML: {error}") from None
    texts = {name: _format_toml(value) for name, value in table.items() if not isinstance(value, (list, dict))}
    unclear = {name: _NOT_ONE_TEXT for name, value in table.items() if isinstance(value, (list, dict))}
    return Fields(texts, unclear)


def _format_toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
