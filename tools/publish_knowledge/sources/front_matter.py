"""Front matter: metadata that a file declares before its text, in YAML (`---`) or TOML (`+++`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from knowledge.text import is_unicode
from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.front_matter_fields import (
    Fields,
    Syntax,
    UnclearFieldsError,
    has_known_field,
    parse_fields,
    read_lines,
)
from publish_knowledge.sources.languages import normalize_language

MAX_CHARS: Final = 65_536
"""Front matter is a few lines; a YAML parser is slow on megabytes."""

MAX_ID_CHARS: Final = 512

_SPACE: Final = r"[ \t\u00a0\ufeff\u200b\u2060]"
_LINE_END: Final = r"(?:\r\n|\n|\r)"
_OPENING: Final = re.compile(rf"(---|\+\+\+){_SPACE}*{_LINE_END}")
_CLOSINGS: Final[dict[str, re.Pattern[str]]] = {
    "---": re.compile(rf"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.){_SPACE}*(?:{_LINE_END}|\Z)"),
    "+++": re.compile(rf"(?:(?<=\n)|(?<=\r))\+\+\+{_SPACE}*(?:{_LINE_END}|\Z)"),
}
_SYNTAXES: Final[dict[str, Syntax]] = {"---": "yaml", "+++": "toml"}
_BLANK_LINES: Final = re.compile(rf"(?:{_SPACE}*(?:\r\n|\n|\r))*[\u00a0\ufeff\u200b\u2060]*")
_BLANK_LINE: Final = re.compile(rf"{_SPACE}*[\r\n]")
_COMMENTS: Final = (("<!--", "-->"), ("{/*", "*/}"))
_RULE: Final = re.compile(rf"[ ]*(?:-{{2,}}|\+{{2,}}|[–—]+){_SPACE}*{_LINE_END}")
_RULE_HINT: Final = "If the first line is meant as a horizontal rule, put a blank line after it."
_TRUE: Final = frozenset(("true", "yes", "on", "1", "y"))
_FALSE: Final = frozenset(("false", "no", "off", "0", "n", ""))


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata declared, `None` where there is none, and the text after it.

    `draft` is the field that makes the file a draft, as `draft: true`. Warnings are sentences for its writer.
    """

    body: str
    title: str | None = None
    language: str | None = None
    id: str | None = None
    draft: str | None = None
    warnings: tuple[str, ...] = field(default=())


def parse_front_matter(text: str, *, reads_id: bool = True) -> FrontMatter:
    """Separate front matter from a text; raises `UnusableFileError` where a field that is used cannot be read.

    A line `---` or `+++` opens it and the next such line closes it (for YAML also `...`). It may come after blank lines
    and comments, and have a blank line after its opening, if one of its fields is well known; a sentence between two
    such lines is text under a horizontal rule. With `reads_id` false the `id` in it has no effect.
    """
    start = _skip_comments(text)
    opening = _OPENING.match(text, start)
    closing = opening and _CLOSINGS[opening[1]].search(text, opening.end())
    if opening is None or closing is None:
        return _read_as_text(text, start)
    block = text[opening.end() : min(closing.start(), opening.end() + MAX_CHARS)]
    is_clear = start == 0 and not _BLANK_LINE.match(text, opening.end())
    if not is_clear and not has_known_field(block):
        return FrontMatter(text)
    if closing.start() - opening.end() > MAX_CHARS:
        raise UnusableFileError(f"Its front matter is longer than {MAX_CHARS:,} characters. {_RULE_HINT}")
    try:
        fields = parse_fields(block, _SYNTAXES[opening[1]])
    except UnclearFieldsError as error:
        return FrontMatter(text, warnings=(f"{error}. It is published as text. {_RULE_HINT}",))
    return FrontMatter(text) if fields is None else _build(fields, text[closing.end() :], reads_id=reads_id)


def _skip_comments(text: str) -> int:
    """Where the first line is that is neither blank nor a comment; 0 where the text begins with it."""
    position = _skip_blank_lines(text, 0)
    while position < MAX_CHARS:
        end = next((end for start, end in _COMMENTS if text.startswith(start, position)), None)
        closed = text.find(end, position, position + MAX_CHARS) if end else -1
        if end is None or closed < 0:
            break
        position = _skip_blank_lines(text, closed + len(end))
    return position


def _skip_blank_lines(text: str, position: int) -> int:
    match = _BLANK_LINES.match(text, position)
    return match.end() if match else position


def _read_as_text(text: str, start: int) -> FrontMatter:
    """The whole text; with a warning, and as a draft if it says so, where its first lines look like front matter."""
    rule = _RULE.match(text, start)
    lines = text[rule.end() : rule.end() + MAX_CHARS] if rule else ""
    paragraph = re.split(r"\r?\n[ \t]*\r?\n|\r[ \t]*\r", lines, maxsplit=1)[0]
    if not has_known_field(paragraph.partition("\n")[0].partition("\r")[0]):
        return FrontMatter(text)
    warning = "Its first lines look like front matter, but are not between two lines `---`: they are published as text."
    draft, warnings = _read_draft(_lower_names(read_lines(paragraph)))
    return FrontMatter(text, draft=draft, warnings=(warning, *warnings))


def _build(fields: Fields, body: str, *, reads_id: bool) -> FrontMatter:
    named = _lower_names(fields)
    language, language_warnings = _read_language(named)
    draft, draft_warnings = _read_draft(named)
    return FrontMatter(
        body,
        title=_get_text(named, "title"),
        language=language,
        # Only its exact name is an id: what a file was published as must not change with a reading of other names.
        id=_read_id(fields) if reads_id else None,
        draft=draft,
        warnings=(*fields.warnings, *language_warnings, *draft_warnings),
    )


def _lower_names(fields: Fields) -> Fields:
    """The same fields by lower-case names; a name that is written so takes precedence."""
    texts = {name.lower(): value for name, value in fields.texts.items()} | dict(fields.texts)
    unclear = {name.lower(): why for name, why in fields.unclear.items()}
    unclear = {name: why for name, why in unclear.items() if name not in fields.texts}
    return replace(fields, texts=texts, unclear=unclear)


def _read_id(fields: Fields) -> str | None:
    identity = _get_text(fields, "id")
    if identity is not None and len(identity) > MAX_ID_CHARS:
        raise UnusableFileError(f"The `id` in its front matter is longer than {MAX_ID_CHARS} characters. Shorten it.")
    return identity


def _read_language(fields: Fields) -> tuple[str | None, list[str]]:
    """The first of two fields that holds a language code, and a warning for one that does not."""
    warnings: list[str] = []
    for name in ("language", "lang"):
        if name in fields.unclear:
            warnings.append(f"The `{name}` in its front matter cannot be read: it has no effect.")
        tag = " ".join(fields.texts.get(name, "").split())
        if not tag:
            continue
        try:
            return normalize_language(tag), warnings
        except ValueError as error:
            warnings.append(f"The `{name}` in its front matter has no effect: {error}")
    return None, warnings


def _read_draft(fields: Fields) -> tuple[str | None, list[str]]:
    """The field that makes a draft. A value that is neither yes nor no makes one too: text may wait, not leak."""
    for name, drafts, others in (
        ("draft", _TRUE, _FALSE),
        ("publish", _FALSE - {""}, _TRUE | {""}),
        ("published", _FALSE - {""}, None),
        ("status", frozenset({"draft"}), None),
    ):
        value = " ".join(fields.texts.get(name, "").split())
        if value.lower() in drafts:
            return f"{name}: {value}", []
        if others is not None and (name in fields.unclear or value.lower() not in others):
            warning = f"The `{name}` in its front matter is neither true nor false: the file is taken for a draft."
            return f"{name}: {value[:40] or '…'}", [warning]
    return None, []


def _get_text(fields: Fields, name: str) -> str | None:
    """A value as it is written (`007` stays `007`), with each run of whitespace as one space; `None` if empty."""
    if name in fields.unclear:
        reason = fields.unclear[name]
        if reason.startswith("must"):
            raise UnusableFileError(f"`{name}` in its front matter {reason}.")
        raise UnusableFileError(f"{reason}. {_RULE_HINT}")
    value = " ".join(fields.texts.get(name, "").split())
    if not is_unicode(value):
        raise UnusableFileError(
            f"`{name}` in its front matter holds half of a surrogate pair. Write the character itself."
        )
    return value or None
