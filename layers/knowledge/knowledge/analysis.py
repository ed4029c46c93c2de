"""Text to terms, and query to terms: the lexical side's view of words, the same for publishing and searching.

Terms are joined by blanks into the `terms` column, which the full-text index splits at white space and nothing
else, so that all decisions about words are made here:

* compatibility forms are folded (full-width letters, ligatures), case and accents too;
* words are stemmed in the language of the text; a query, whose language is not told, carries the stems of all;
* Chinese, Japanese and other unspaced scripts become overlapping pairs of characters;
* an identifier (`ERR_CONN_REFUSED`, `camelCase`, `HTTP/2`, `C++`) is kept whole beside its parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import Stemmer

from knowledge.function_words import function_words_of

STEMMERS: Final = {"en": "english", "es": "spanish", "pt": "portuguese", "de": "german"}
"""Languages with a stemmer. Texts in others are matched by their folded surface forms."""

MAX_QUERY_WORDS: Final = 256
"""Words of one query that are searched for; a question has fewer, a pathological one may not."""

_UNSPACED: Final = (
    r"\u3040-\u30ff\uff66-\uff9f"  # kana, full and half width
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)
_TOKEN: Final = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}々ー]+)"
    rf"|(?P<word>(?:(?![{_UNSPACED}])\w)+(?:(?:[-./:+#'’]|(?:\+\+))*(?:(?![{_UNSPACED}])\w)+)*(?:\+\+|#)?)"
)
_HIRAGANA_PAIR: Final = re.compile("[\u3041-\u309f]{2}")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


Parts = Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Token:
    """A word or an unspaced run as it stands in the text: `text[start:end]`, in code points."""

    text: str
    start: int
    end: int
    unspaced: bool


def tokens(text: str) -> Iterator[Token]:
    """Every token of a text, left to right, with its exact range."""
    for match in _TOKEN.finditer(text):
        yield Token(match.group(), match.start(), match.end(), match.lastgroup == "unspaced")


def document_terms(text: str, language: str, parts: Parts = lambda _word: ()) -> list[str]:
    """Terms of a text to be indexed, in order, repeats kept (they are the term frequencies).

    `parts` gives the words that a compound is made of, none for any other word; their terms stand beside its own.
    """
    languages = (language,) if language in STEMMERS else ()
    return [term for token in tokens(text) for term in _with_parts(token, languages, parts)]


def query_words(query: str) -> list[tuple[str, ...]]:
    """The terms of each distinct word of a query, stemmed in every language because its own is not told.

    Function words are left out of a question, unless it holds nothing else.
    """
    found = list(tokens(query))
    grammar = function_words_of([_fold(token.text) for token in found if not token.unspaced])
    topical = [token for token in found if token.unspaced or _fold(token.text) not in grammar]
    words = dict.fromkeys(tuple(token_terms(token, tuple(STEMMERS))) for token in topical or found)
    return [word for word in words if word][:MAX_QUERY_WORDS]


def query_terms(words: Iterable[tuple[str, ...]]) -> list[str]:
    """Distinct terms of a query's words, in order."""
    return list(dict.fromkeys(term for word in words for term in word))


def _with_parts(token: Token, languages: tuple[str, ...], parts: Parts) -> list[str]:
    found = list(token_terms(token, languages))
    if not token.unspaced:
        found += [_stems(part, languages)[0] for part in parts(token.text)]
    return found


def token_terms(token: Token, languages: tuple[str, ...]) -> Iterable[str]:
    """Terms of one token, without repeats."""
    if token.unspaced:
        return _pairs(_fold(token.text))
    return _word_terms(token.text, languages)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    # Two hiragana are nearly always grammar: endings and particles, which every text has.
    return [pair for pair in pairs if not _HIRAGANA_PAIR.fullmatch(pair)] or pairs


@lru_cache(maxsize=65_536)
def _word_terms(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    whole = unicodedata.normalize("NFKC", word)
    parts = [part for piece in _CAMEL.split(whole) for part in _PART.findall(piece)]
    spellings = _spellings(whole, parts)
    found = [term for spelling in spellings for term in _stems(spelling, languages)]
    return tuple(dict.fromkeys(term for term in found if term))


def _spellings(whole: str, parts: list[str]) -> list[str]:
    if len(parts) == 1 and whole.isalnum():
        return parts
    # The part of a name like C++ or C# alone would find every C.
    return [_joined(whole)] if len(parts) == 1 else [*parts, _joined(whole)]


def _joined(identifier: str) -> str:
    """One spelling for `HTTP/2` and `http2`, `snake_case` and `snakeCase`; `C++` and `C#` keep their signs."""
    return re.sub(r"[^\w+#]|_", "", _fold(identifier))


def _stems(word: str, languages: tuple[str, ...]) -> list[str]:
    lowered = word.lower()
    if not languages or not word.isalpha():
        return [_fold(lowered)]
    # Folding comes after stemming, and the folded form is stemmed too: "configuracao" must meet "configuração".
    forms = {lowered, _fold(lowered)}
    return [_fold(stem) for name in languages for form in sorted(forms) for stem in (_stemmer(name).stemWord(form),)]


@lru_cache(maxsize=len(STEMMERS))
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(STEMMERS[language])


@lru_cache(maxsize=65_536)
def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    # Voiced kana marks are letters, not accents: compose again what is not Latin, Greek or Cyrillic.
    kept = "".join(mark for mark in decomposed if not "\u0300" <= mark <= "\u036f")
    return unicodedata.normalize("NFC", kept)
