"""Detect the language of a text: a lower-case primary tag (`en`, `pt`), or `und` where it is undetermined.

A declared language takes precedence. Otherwise a confident detection decides, then a folder named after a language
(`docs/es/…`), then the most probable detection. The model is part of its package: nothing is downloaded, and the result
is the same everywhere.
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
"""Languages that are detected. The model has twice as many, whose similar ones make detection of short texts worse."""

_CLEAR: Final = 0.95
"""From this probability on the text overrides a folder's name: `it/` is often a department, and `es/` may hold pages
that are not translated yet."""

_LIKELY: Final = 0.5
"""Below this probability a detection is more often wrong than right: two words, or code alone."""

_SAMPLE_CHARS: Final = 10_000
_TAG: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{1,8})*")
_FOLDER: Final = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{2}|hans|hant|\d{3}))?", re.IGNORECASE)
# Code, links and markup look English in every language. Bounded repetitions keep hostile texts linear.
_NOISE: Final = re.compile(
    r"^(?P<fence>```|~~~).*?^(?P=fence)[`~]*[ \t]*$"
    r"|`[^`\n]{0,500}`|<[^>\n]{0,500}>|https?://\S+|\{[^}\n]{0,500}\}|\]\([^)\n]{0,500}\)",
    re.DOTALL | re.MULTILINE,
)


def normalize_language(tag: str) -> str:
    """Primary subtag of a language tag, in lower case: `pt-BR` is `pt`; raises `ValueError` for anything else."""
    match = _TAG.fullmatch(tag.strip())
    if match is None:
        raise ValueError(f"{tag!r} is not a language code such as en or pt-BR.")
    return match.group(1).lower()


def detect_language(text: str, folders: Iterable[str]) -> str:
    """Language of a text that declares none; `folders` are the names of its folders, outermost first."""
    language, probability = _classify(text)
    if probability >= _CLEAR:
        return language
    return _find_folder_language(folders) or (language if probability >= _LIKELY else UNKNOWN)


def _find_folder_language(folders: Iterable[str]) -> str | None:
    """The innermost folder named by a language code, with or without a region."""
    codes = [match.group(1).lower() for name in folders if (match := _FOLDER.fullmatch(name))]
    return next((code for code in reversed(codes) if code in CANDIDATES), None)


def _classify(text: str) -> tuple[str, float]:
    language, probability = _load_identifier().classify(_NOISE.sub(" ", text[:_SAMPLE_CHARS]))
    return str(language), float(probability)


@cache
def _load_identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(CANDIDATES)
    return identifier
