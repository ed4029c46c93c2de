"""YAML front matter: metadata that a file declares before its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import yaml

from knowledge.text import is_unicode
from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.languages import normalize_language

MAX_CHARS: Final = 65_536
"""Front matter is a few lines; a YAML parser is slow on megabytes."""

MAX_ID_CHARS: Final = 512

_OPENING: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
_CLOSING: Final = re.compile(r"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_BLANK_LINE: Final = re.compile(r"[ \t]*(?:\r|\n)")
_NULL: Final = "tag:yaml.org,2002:null"
_RULE_HINT: Final = "If the first line is meant as a horizontal rule, put a blank line after it."


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata declared, `None` where there is none, and the text after it."""

    body: str
    title: str | None = None
    language: str | None = None
    id: str | None = None


def parse_front_matter(text: str) -> FrontMatter:
    """Separate front matter from a text; raises `UnusableFileError` where it is present but invalid.

    `---` opens front matter only as the very first line, followed by a line that is not blank, and closed by a line
    `---` or `...`; a sentence between two such lines is text under a horizontal rule.
    """
    opening = _OPENING.match(text)
    if opening is None or _BLANK_LINE.match(text, opening.end()):
        return FrontMatter(text)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return FrontMatter(text)
    if closing.start() > MAX_CHARS:
        raise UnusableFileError(f"Its front matter is longer than {MAX_CHARS:,} characters. {_RULE_HINT}")
    node = _compose(text[opening.end() : closing.start()])
    if isinstance(node, yaml.ScalarNode) and node.tag != _NULL:
        return FrontMatter(text)
    return _build_front_matter(_get_entries(node), text[closing.end() :])


def _compose(block: str) -> yaml.Node | None:
    # Nodes are never constructed as objects: dates stay text, tags have no effect, aliases cannot expand without end.
    try:
        return yaml.compose(block, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = f" (line {mark.line + 2})" if mark else ""
        raise UnusableFileError(f"Its front matter does not parse{position}: {error.problem}. {_RULE_HINT}") from None
    except RecursionError:
        raise UnusableFileError("Its front matter is nested too deeply. Correct it or remove it.") from None
    except (yaml.YAMLError, ValueError, OverflowError):  # the last two come from escapes beyond Unicode
        raise UnusableFileError("Its front matter holds a character that YAML does not allow. Remove it.") from None


def _get_entries(node: yaml.Node | None) -> dict[str, yaml.Node]:
    if node is None or isinstance(node, yaml.ScalarNode):
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise UnusableFileError(f"Its front matter is a list, not `name: value` lines. {_RULE_HINT}")
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _build_front_matter(entries: dict[str, yaml.Node], body: str) -> FrontMatter:
    language = _get_text(entries, "language") or _get_text(entries, "lang")
    identity = _get_text(entries, "id")
    if identity is not None and len(identity) > MAX_ID_CHARS:
        raise UnusableFileError(f"The `id` in its front matter is longer than {MAX_ID_CHARS} characters. Shorten it.")
    return FrontMatter(body, _get_text(entries, "title"), language and _normalize_language(language), identity)


def _get_text(entries: dict[str, yaml.Node], name: str) -> str | None:
    """A value as it is written (`007` stays `007`), with each run of whitespace as one space; `None` if empty."""
    node = entries.get(name)
    if node is None or node.tag == _NULL:
        return None
    if not isinstance(node, yaml.ScalarNode):
        raise UnusableFileError(f"`{name}` in its front matter must be one text, not a list or a mapping.")
    value = " ".join(str(node.value).split())
    if not is_unicode(value):
        raise UnusableFileError(
            f"`{name}` in its front matter holds half of a surrogate pair. Write the character itself."
        )
    return value or None


def _normalize_language(tag: str) -> str:
    try:
        return normalize_language(tag)
    except ValueError as error:
        raise UnusableFileError(f"The language in its front matter cannot be used: {error}") from None
