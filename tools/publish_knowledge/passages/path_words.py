"""The words of a path: `projects/apollo/ADR-0007-postgres.md` is found by "apollo", "ADR-0007" and "ADR 7"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

PATH_WORDS: Final = 40
"""Names and codes of a path that count, its end first: deeper folders say less about one file."""

_NAME_CHARS: Final = 255
"""Longest name of a file in all usual file systems."""

_EXTENSION: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_CODE: Final = re.compile(r"(?<![^\W_])(?:[^\W\d_]{1,16}[-_ .]?0*(\d{1,16})(?![-_.]?\d)|\d{1,16}(?:[-_.]\d{1,16})+)")
_ZEROS: Final = re.compile(r"([^\W\d_]*)[-_ .]?0+(?=[1-9])")
_DIGEST: Final = re.compile(r"(?<![^\W_])(?=[a-f]*\d)[0-9a-f]{16,128}(?![^\W_])")


def split_path(path: str) -> list[str]:
    """The names in a path, and the codes, dates and digests in them as they are asked for; none without a path."""
    names = [*PurePosixPath(path).parts]
    if names:
        names[-1] = _EXTENSION.sub("", names[-1])
    words = [word for name in reversed(names) for word in _split_name(name[:_NAME_CHARS])]
    return list(dict.fromkeys(words))[:PATH_WORDS]


def is_digest(word: str) -> bool:
    """Whether a program put it into a name: its letters are no words."""
    return bool(_DIGEST.fullmatch(word))


def _split_name(name: str) -> Iterator[str]:
    yield from _DIGEST.findall(name)
    name = _DIGEST.sub(" ", name)
    yield from name.replace("_", " ").split()
    for match in _CODE.finditer(name):
        code = match.group()
        yield code
        if match.group(1):
            # ADR-0007 is also written ADR 7.
            yield from (_ZEROS.sub(r"\1-", code), match.group(1))
