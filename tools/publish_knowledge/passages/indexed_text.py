"""What is embedded and what is indexed for a passage: its text under its title and heading path.

A passage in the middle of a table has the table's header row before its text as well, and text that nobody can read is
left out of both. The terms of an item also have the words of its path; its vectors do not, so that a file that is
renamed is not embedded again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from knowledge.search import words
from knowledge.search.analysis import analyze_text, tokenize
from knowledge.search.unreadable import Range, find_unreadable
from publish_knowledge.passages import compounds
from publish_knowledge.passages.path_words import is_digest, split_path
from publish_knowledge.passages.splitting import SEPARATOR, Passage
from publish_knowledge.passages.tables import list_headers

Analyze = Callable[[str, str], list[str]]
"""Terms of a text in a language."""

_PATH_LANGUAGE: Final = "en"
"""Names of files are often English whatever the text is, so that they are stemmed in both languages."""


def list_embedded_texts(title: str, passages: Sequence[Passage]) -> list[str | None]:
    """What each passage's vector is computed from; `None` for one that has no vector, as it holds nothing readable.

    `passages` are all of a revision, in order. The first always has a vector, so that every item can be found.
    """
    headers = list_headers(passages)
    readable = _list_readable_texts(passages)
    texts = (
        None if text is None else build_embedded_text(title, passage, header, text)
        for passage, header, text in zip(passages, headers, readable, strict=True)
    )
    return list(texts)


def list_indexed_terms(
    version: int, title: str, language: str, path: str, passages: Sequence[Passage]
) -> list[str | None]:
    """What the full-text index covers, for each passage: terms of one version of the analyzer, joined by spaces.

    `None` for a passage without a vector.
    """
    return _BUILDERS[version](title, language, path, passages)


def build_embedded_text(title: str, passage: Passage, header: str = "", text: str | None = None) -> str:
    """Title and heading path on one line, the header row of its table, then its text, or the readable part of it."""
    first = join_headings(title, passage.heading)
    rest = passage.text if text is None else text
    return f"{first}\n{header}\n{rest}" if header else f"{first}\n{rest}"


def build_indexed_terms(title: str, language: str, passage: Passage, header: str = "", text: str | None = None) -> str:
    """The terms of title, heading path, header row and text, joined by spaces."""
    return " ".join(_analyze(build_embedded_text(title, passage, header, text), language))


def join_headings(title: str, heading: str) -> str:
    """Title and heading path as one path; the title is not repeated where it is the first heading, as it mostly is."""
    if not heading or heading == title or heading.startswith(title + SEPARATOR):
        return heading or title
    return f"{title}{SEPARATOR}{heading}"


def _analyze(text: str, language: str) -> list[str]:
    if language == compounds.LANGUAGE:
        return analyze_text(text, language, compounds.split_compound)
    return analyze_text(text, language)


def _analyze_words(text: str, language: str) -> list[str]:
    return words.analyze_text(text, language, compounds.split_compound if language == compounds.LANGUAGE else None)


def _list_terms_of_text(title: str, language: str, _path: str, passages: Sequence[Passage]) -> list[str | None]:
    """Version 1: title, heading path and text."""
    readable = zip(passages, _list_readable_texts(passages), strict=True)
    return [None if text is None else build_indexed_terms(title, language, passage) for passage, text in readable]


def _list_terms_with_context(
    analyze: Analyze, title: str, language: str, path: str, passages: Sequence[Passage]
) -> list[str | None]:
    """From version 2 on: also the header row of a table and the words of the path; nothing of unreadable text."""
    texts = list_embedded_texts(title, passages)
    path_terms = dict.fromkeys(_list_path_terms(analyze, path, language))
    return [None if text is None else _add_terms(analyze(text, language), path_terms) for text in texts]


def _list_path_terms(analyze: Analyze, path: str, language: str) -> Iterator[str]:
    for word in split_path(path):
        if is_digest(word):
            yield word
        else:
            yield from analyze(word, language)
            yield from analyze(word, _PATH_LANGUAGE)


def _add_terms(terms: list[str], others: Iterable[str]) -> str:
    # A word that the passage has is not counted twice: the path should make an item found, not outweigh its text.
    known = frozenset(terms)
    return " ".join([*terms, *(term for term in others if term not in known)])


_BUILDERS: Final[Mapping[int, Callable[[str, str, str, Sequence[Passage]], list[str | None]]]] = MappingProxyType(
    {
        1: _list_terms_of_text,
        2: partial(_list_terms_with_context, _analyze),
        3: partial(_list_terms_with_context, _analyze_words),
    }
)
"""By version of the analyzer: terms from title, language, path and all passages of a revision."""


def _list_readable_texts(passages: Sequence[Passage]) -> list[str | None]:
    """The text of each passage with a space for each unreadable run; `None` where no word is left, but in the first."""
    first = passages[0].start if passages else 0
    hidden = find_unreadable("".join(passage.text for passage in passages))
    texts: list[str | None] = []
    at = 0
    for passage in passages:
        start, end = passage.start - first, passage.end - first
        while at < len(hidden) and hidden[at][1] <= start:
            at += 1
        text = _leave_out(passage.text, start, _take_overlapping(hidden, at, end))
        texts.append(text if not texts or text == passage.text or any(tokenize(text)) else None)
    return texts


def _take_overlapping(ranges: Sequence[Range], at: int, end: int) -> list[Range]:
    taken: list[Range] = []
    while at < len(ranges) and ranges[at][0] < end:
        taken.append(ranges[at])
        at += 1
    return taken


def _leave_out(text: str, offset: int, hidden: Iterable[Range]) -> str:
    edges = [edge - offset for one in hidden for edge in one]
    ends = [0, *(min(max(edge, 0), len(text)) for edge in edges), len(text)]
    return " ".join(text[start:end] for start, end in list(pairwise(ends))[::2])
