"""Stemming and folding of single words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

import Stemmer

QUERY_LANGUAGES: Final = ("en", "es", "pt", "de")
"""A query's words are stemmed in all of these, whatever its own language."""

STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Languages with a stemmer, and its name in the Snowball library."""

FALLBACK: Final = "en"
"""Stemmer for the spaced words in texts of other languages: in Japanese or Chinese they are mostly English."""

_BY_SCRIPT: Final = (
    ("\u0370", "\u03ff", "el"), ("\u0400", "\u04ff", "ru"), ("\u0530", "\u058f", "hy"), ("\u0590", "\u05ff", "yi"),
    ("\u0600", "\u06ff", "ar"), ("\u0900", "\u097f", "hi"), ("\u0b80", "\u0bff", "ta"),
)  # fmt: skip
"""The stemmer of a word whose script few languages share."""

_FIRST_OF_A_SCRIPT: Final = min(low for low, _, _ in _BY_SCRIPT)

_LETTERS: Final = {
    "ø": "o", "ł": "l", "œ": "oe", "æ": "ae", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ŧ": "t", "ŋ": "n",
}  # fmt: skip
"""Letters that are not decomposed, as they are written without them."""

_DROPPED: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c]"
)
"""Accents of Latin, Greek and Cyrillic; vowel points of Hebrew and Arabic, the Arabic lengthening, and the
dot that Hindi often leaves out."""

# As patterns, because a translation looks at every character of a long run.
_LETTER: Final = re.compile(f"[{''.join(_LETTERS)}]")
_DIGIT: Final = re.compile(r"(?![0-9])\d")

_PLURALS: Final = (
    *(("ões", "ão"), ("ães", "ão"), ("ãos", "ão"), ("oes", "ao"), ("aes", "ao"), ("aos", "ao")),
    *(("ais", "al"), ("éis", "el"), ("eis", "el"), ("óis", "ol"), ("ois", "ol")),
)
_SHORTEST_PLURAL: Final = 5
"""Shorter words with such an ending (mais, dois, seis) are not plurals."""


def fold(text: str) -> str:
    """Lower case without accents; the digits of all scripts as ASCII's."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = _LETTER.sub(lambda match: _LETTERS[match.group()], _DROPPED.sub("", decomposed))
    if bare.isascii():
        return bare
    # Voiced kana marks are letters: compose again what is not dropped.
    composed = unicodedata.normalize("NFC", bare)
    return _DIGIT.sub(lambda match: str(unicodedata.digit(match.group())), composed)


def stem_in_language(word: str, language: str) -> list[str]:
    """Stems of a text's word: of the word as it stands, and of its folded form.

    A word of a language that queries are not stemmed in has the stem of `FALLBACK` as well.
    """
    lowered = word.lower()
    if language not in QUERY_LANGUAGES:
        return list(dict.fromkeys([*_stem_forms(lowered, language), *_stem_forms(lowered, FALLBACK)]))
    return _stem_forms(lowered, language)


def _stem_forms(lowered: str, language: str) -> list[str]:
    if lowered.isascii():
        return [_stem(lowered, language)]
    return list(dict.fromkeys(_stem_both(lowered, fold(lowered), language)))


def _stem_both(lowered: str, folded: str, language: str) -> tuple[str, str]:
    # Folding comes after stemming, and the folded form is stemmed too: "configuracao" must meet "configuração".
    if lowered[:1] < _FIRST_OF_A_SCRIPT:
        return fold(_stem(lowered, language)), fold(_stem(folded, language))
    return fold(_stem(lowered, _choose(lowered, language))), fold(_stem(folded, _choose(folded, language)))


def stem_in_all_languages(word: str, language: str = "") -> list[str]:
    """Stems of a query's word in all languages of queries, and in its own where that is known and has a stemmer."""
    lowered = word.lower()
    languages = QUERY_LANGUAGES if language in QUERY_LANGUAGES else (*QUERY_LANGUAGES, language)
    if lowered.isascii():
        return list(dict.fromkeys([_stem(lowered, one) for one in languages if one in STEMMERS]))
    folded = fold(lowered)
    return list(
        dict.fromkeys([stem for one in languages if one in STEMMERS for stem in _stem_both(lowered, folded, one)])
    )


def _choose(word: str, language: str) -> str:
    first = word[:1]
    return next(
        (known for low, high, known in _BY_SCRIPT if low <= first <= high and language in QUERY_LANGUAGES), language
    )


def _stem(word: str, language: str) -> str:
    stemmed: str = _stemmer(language).stemWord(_singular(word) if language == "pt" else word)
    return stemmed


def _singular(word: str) -> str:
    """The singular of Portuguese plurals that change the word's ending, which the stemmer keeps apart from it."""
    if len(word) < _SHORTEST_PLURAL:
        return word
    return next((word[: -len(end)] + single for end, single in _PLURALS if word.endswith(end)), word)


@lru_cache(maxsize=len(STEMMERS))
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(STEMMERS[language])
