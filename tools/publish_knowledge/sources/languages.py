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

_CODES: Final = frozenset(
    (
        *("aa", "ab", "ae", "af", "ak", "am", "an", "ar", "as", "av", "ay", "az", "ba", "be", "bg", "bh", "bi"),
        *("bm", "bn", "bo", "br", "bs", "ca", "ce", "ch", "co", "cr", "cs", "cu", "cv", "cy", "da", "de", "dv"),
        *("dz", "ee", "el", "en", "eo", "es", "et", "eu", "fa", "ff", "fi", "fj", "fo", "fr", "fy", "ga", "gd"),
        *("gl", "gn", "gu", "gv", "ha", "he", "hi", "ho", "hr", "ht", "hu", "hy", "hz", "ia", "id", "ie", "ig"),
        *("ii", "ik", "in", "io", "is", "it", "iu", "iw", "ja", "ji", "jv", "jw", "ka", "kg", "ki", "kj", "kk"),
        *("kl", "km", "kn", "ko", "kr", "ks", "ku", "kv", "kw", "ky", "la", "lb", "lg", "li", "ln", "lo", "lt"),
        *("lu", "lv", "mg", "mh", "mi", "mk", "ml", "mn", "mo", "mr", "ms", "mt", "my", "na", "nb", "nd", "ne"),
        *("ng", "nl", "nn", "no", "nr", "nv", "ny", "oc", "oj", "om", "or", "os", "pa", "pi", "pl", "ps", "pt"),
        *("qu", "rm", "rn", "ro", "ru", "rw", "sa", "sc", "sd", "se", "sg", "sh", "si", "sk", "sl", "sm", "sn"),
        *("so", "sq", "sr", "ss", "st", "su", "sv", "sw", "ta", "te", "tg", "th", "ti", "tk", "tl", "tn", "to"),
        *("tr", "ts", "tt", "tw", "ty", "ug", "uk", "ur", "uz", "ve", "vi", "vo", "wa", "wo", "xh", "yi", "yo"),
        *("za", "zh", "zu"),
    )
)
"""Codes of two letters in ISO 639-1, withdrawn ones included; `jp`, `cz` or `dk` are countries."""

_CLEAR: Final = 0.95
"""From this probability on the text overrides a folder's name: `it/` is often a department, and `es/` may hold pages
that are not translated yet."""

_LIKELY: Final = 0.5
"""Below this probability a detection is more often wrong than right: two words, or code alone."""

_LONG_CODE: Final = 3
"""Letters of a code in ISO 639-3, which has thousands: they are not checked."""

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
    code = match.group(1).lower() if match else ""
    if len(code) != _LONG_CODE and code not in _CODES:
        raise ValueError(f"{tag[:40]!r} is not a language code such as en or pt-BR.")
    return code


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
