"""The language of a text, as a lower-case primary tag (`en`, `pt`), or `und` where it cannot be told.

What is declared wins. Otherwise a text that speaks clearly decides, then a folder named after a language
(`docs/es/…`), then the likeliest guess. The guess is made by a model that travels with its package: no download,
and the same answer everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

UNKNOWN: Final = "und"

CANDIDATES: Final = (
    *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu"),
    *("id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "ta"),
    *("th", "tl", "tr", "uk", "ur", "vi", "zh"),
)
"""Languages a text may be taken for. The model knows a hundred more, whose near relatives spoil short texts."""

_CLEAR: Final = 0.95
"""From here on the text outvotes a folder's name: `it/` is often a department, and pages wait untranslated in `es/`."""

_LIKELY: Final = 0.5
"""Below, a guess is more often wrong than right: two words, or code alone."""

_SAMPLE_CHARS: Final = 10_000
_TAG: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{1,8})*")
_FOLDER: Final = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{2}|hans|hant|\d{3}))?", re.IGNORECASE)
# Code, links and markup speak English in every language. The counts keep hostile texts linear.
_NOISE: Final = re.compile(
    r"^(?P<fence>```|~~~).*?^(?P=fence)[`~]*[ \t]*$"
    r"|`[^`\n]{0,500}`|<[^>\n]{0,500}>|https?://\S+|\{[^}\n]{0,500}\}|\]\([^)\n]{0,500}\)",
    re.DOTALL | re.MULTILINE,
)


def normalized(tag: str) -> str:
    """Primary part of a language tag, in lower case: `pt-BR` is `pt`; raises `ValueError` for what is no tag."""
    match = _TAG.fullmatch(tag.strip())
    if match is None:
        raise ValueError(f"{tag!r} is not a language code such as en or pt-BR.")
    return match.group(1).lower()


def language_of(text: str, folders: Iterable[str]) -> str:
    """Language of a text that declares none; `folders` are the names of the folders it lies in."""
    guess, probability = _guess(text)
    if probability >= _CLEAR:
        return guess
    return _of_folders(folders) or (guess if probability >= _LIKELY else UNKNOWN)


def _of_folders(folders: Iterable[str]) -> str | None:
    """The innermost folder named by a language code, with or without a region."""
    codes = [match.group(1).lower() for name in folders if (match := _FOLDER.fullmatch(name))]
    return next((code for code in reversed(codes) if code in CANDIDATES), None)


def _guess(text: str) -> tuple[str, float]:
    language, probability = _identifier().classify(_NOISE.sub(" ", text[:_SAMPLE_CHARS]))
    return str(language), float(probability)


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(CANDIDATES)
    return identifier
