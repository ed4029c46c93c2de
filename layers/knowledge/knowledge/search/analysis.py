"""Analysis of texts and queries into terms, the same for publishing and searching.

Terms are joined by spaces into the `terms` column, which the full-text index splits at whitespace and nothing else,
so that all decisions about words are made here:

* compatibility forms are folded (full-width letters, ligatures), case and accents too;
* words are stemmed in the language of the text; those of a query, whose language is unknown, in all languages;
* Chinese, Japanese and other unspaced scripts become overlapping pairs of characters, besides single Han characters;
* an identifier (`ERR_CONN_REFUSED`, `camelCase`, `HTTP/2`, `C++`) is indexed whole and in parts; a code with numbers,
  signs or capitals is searched for as a whole.

Whatever the text, time and memory grow in proportion to it: every pattern is linear, and words, terms and cached words
have limits that only unusual input reaches. A word beyond a limit is cut in the same way in texts and in queries.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from types import MappingProxyType
from typing import Final, NamedTuple

import Stemmer

from knowledge.search.stop_words import find_stop_words
from knowledge.search.word_cache import WordCache

STEMMERS: Final = {"en": "english", "es": "spanish", "pt": "portuguese", "de": "german"}
"""Languages with a stemmer, and its name in the Snowball library."""

_FALLBACK: Final = "en"
"""Stemmer for the spaced words in texts of other languages: in Japanese or Chinese they are mostly English."""

MAX_QUERY_WORDS: Final = 256
MAX_QUERY_TERMS: Final = 320
"""Most words and distinct terms of one query that are searched for, the first ones: what each costs, it costs for every
passage found in every scope. An unspaced run is one word with as many terms as characters."""

LONG_QUERY_WORDS: Final = 10
"""Distinct words from which on a word that the query repeats counts as often as it stands there: what a long question
repeats is its subject, while a short one repeats words by chance."""

MAX_WORD_CHARS: Final = 2_000
"""Longest word, before and after normalization; the rest is cut off. As long as a passage and a query may be, so that
only words that normalization makes longer are cut: it turns some characters into 18."""

MAX_TEXT_GROWTH: Final = 8
_GROWTH_ALLOWANCE: Final = 256
"""The terms of a text, joined by spaces, have at most `MAX_TEXT_GROWTH` characters for each of the text's, besides the
allowance for short texts. Chinese needs 5, most other texts less than 2."""

_MAX_VERSION_PREFIXES: Final = 8
"""Beginnings of a dotted number that are terms, besides the whole: all of them would be its length squared."""

_UNSPACED: Final = (
    r"\u3040-\u30ff\uff66-\uff9f"  # kana, full and half width
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)
# Accents may be separate marks after their letters.
_LETTER: Final = rf"(?:(?![{_UNSPACED}])[\w\u0300-\u036f])"
_TOKEN: Final = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}々ー]{{1,{MAX_WORD_CHARS}}})"
    rf"|(?P<word>{_LETTER}+(?:[-./:+#'’]+{_LETTER}+)*(?:\+\+|#)?)"
)
_LETTER_ANYWHERE: Final = re.compile(r"[^\W\d_]")
_DIGIT_ANYWHERE: Final = re.compile(r"\d")
_DIGITS_APART: Final = re.compile(r"\d\W+\d")
_CONSTANT: Final = re.compile(r"[A-Z]_[A-Z]")
_SIGNS: Final = re.compile("[+#]")
_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HIRAGANA_PAIR: Final = re.compile("[\u3041-\u309f]{2}")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
# No stemmer changes a word without a Latin letter.
_STEMMED: Final = re.compile("[a-z\u00c0-\u024f]")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

SplitCompound = Callable[[str], Iterable[str]]

_PLURALS: Final = (
    *(("ões", "ão"), ("ães", "ão"), ("ãos", "ão"), ("oes", "ao"), ("aes", "ao"), ("aos", "ao")),
    *(("ais", "al"), ("éis", "el"), ("eis", "el"), ("óis", "ol"), ("ois", "ol")),
)
_SHORTEST_PLURAL: Final = 5
"""Shorter words with such an ending (mais, dois, seis) are not plurals."""


class Token(NamedTuple):
    """A word or an unspaced run as it stands in the text: `text[start:end]`, in code points."""

    text: str
    start: int
    end: int
    unspaced: bool


@dataclass(frozen=True, slots=True)
class AnalyzedQuery:
    """A query for the lexical side: the terms of each distinct word, and all terms, each once.

    `sources` are the words of the query, folded, that `words` come from: by them, the analyses of two versions are
    aligned. `repeats` says how often each word counts: more than once only in a long query.
    """

    words: tuple[tuple[str, ...], ...]
    terms: tuple[str, ...]
    sources: tuple[str, ...]
    repeats: tuple[int, ...]


def tokenize(text: str) -> Iterator[Token]:
    """Every token of a text, left to right, with its exact range."""
    for match in _TOKEN.finditer(text):
        yield Token(match.group(), match.start(), match.end(), match.lastgroup == "unspaced")


def analyze_text(text: str, language: str, split_compound: SplitCompound = lambda _word: ()) -> list[str]:
    """Terms of a text to be indexed, in order, repeats kept (they are the term frequencies).

    `split_compound` gives the parts of a compound, none for any other word; their terms are added to its own.
    """
    languages = (language if language in STEMMERS else _FALLBACK,)
    terms = [term for token in tokenize(text) for term in _terms_with_parts(token, languages, split_compound)]
    return limit_growth(terms, text)


def analyze_query(query: str) -> AnalyzedQuery:
    """The words of a query, stemmed in every language because its own is unknown.

    At most the first `MAX_QUERY_WORDS` distinct words, and of these the first `MAX_QUERY_TERMS` distinct terms.

    Stop words are left out of a question, unless it holds nothing else.
    """
    found = list(tokenize(query))
    stop_words = find_stop_words([_fold(token.text) for token in found if not token.unspaced])
    topical = [token for token in found if token.unspaced or _fold(token.text) not in stop_words]
    distinct: dict[tuple[str, ...], str] = {}
    for token in topical or found:
        distinct.setdefault(tuple(_query_terms(token)), _fold(token.text))
    return limit_query([(source, word) for word, source in distinct.items() if word][:MAX_QUERY_WORDS])


def token_terms(token: Token, languages: tuple[str, ...]) -> Iterable[str]:
    """Terms under which a token of a text is found, without repeats."""
    if token.unspaced:
        run = _fold(token.text)
        return dict.fromkeys([*_pairs(run), *_HAN.findall(run)])
    return _TEXT_WORDS[languages][token.text]


def limit_growth(terms: list[str], text: str) -> list[str]:
    """As many of a text's terms as have, joined by spaces, at most `MAX_TEXT_GROWTH` times its characters."""
    limit = MAX_TEXT_GROWTH * len(text) + _GROWTH_ALLOWANCE
    if sum(map(len, terms)) + len(terms) <= limit:
        return terms
    ends = accumulate(len(term) + 1 for term in terms)
    return [term for term, end in zip(terms, ends, strict=True) if end <= limit]


def limit_query(
    words: Iterable[tuple[str, tuple[str, ...]]], counts: Mapping[tuple[str, ...], int] = MappingProxyType({})
) -> AnalyzedQuery:
    """A query of words, each given by its source and its terms, with at most `MAX_QUERY_TERMS`.

    `counts` tells how often a word stands in the query; it matters where the query has `LONG_QUERY_WORDS`.
    """
    terms: dict[str, None] = {}
    kept: list[tuple[str, ...]] = []
    sources: list[str] = []
    times: list[int] = []
    for source, word in words:
        room = MAX_QUERY_TERMS - len(terms)
        if not room:
            break
        kept.append(word[:room])
        sources.append(source)
        times.append(counts.get(word, 1))
        terms.update(dict.fromkeys(word[:room]))
    repeats = times if len(kept) >= LONG_QUERY_WORDS else [1] * len(kept)
    return AnalyzedQuery(tuple(kept), tuple(terms), tuple(sources), tuple(repeats))


def _terms_with_parts(token: Token, languages: tuple[str, ...], split_compound: SplitCompound) -> list[str]:
    terms = list(token_terms(token, languages))
    if not token.unspaced:
        terms += [_stem_all(part, languages)[0] for part in split_compound(token.text)]
    return terms


def _query_terms(token: Token) -> Iterable[str]:
    """Terms that a token of a query looks for: fewer, where some of a text's would find too much."""
    if not token.unspaced:
        return _query_word_terms(token.text)
    pairs = _pairs(_fold(token.text))
    # Two hiragana are mostly grammar, which every text has; alone they are a word.
    return [pair for pair in pairs if not _HIRAGANA_PAIR.fullmatch(pair)] or pairs


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def _normalize(word: str) -> str:
    # Cut before too: sorting a long run of combining marks takes the square of its length.
    return unicodedata.normalize("NFKC", word[:MAX_WORD_CHARS])[:MAX_WORD_CHARS]


def _word_terms(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    whole = _normalize(word)
    found = [term for spelling in dict.fromkeys(_spellings(whole)) for term in _stem_all(spelling, languages)]
    # Cut again: folding makes some words longer.
    return tuple(dict.fromkeys(term[:MAX_WORD_CHARS] for term in [*found, *_versions(whole)] if term))


def _query_word_terms(word: str) -> tuple[str, ...]:
    """A code is searched for as a whole: its parts would find `HTTP/1.1` for `HTTP/2`, and every C for `C++`."""
    whole = _normalize(word)
    version = _versions(whole)[-1:]
    if version:
        return tuple(version)
    spellings = [_join(whole)] if _is_code(whole) else _spellings(whole)
    found = [term for spelling in dict.fromkeys(spellings) for term in _stem_all(spelling, tuple(STEMMERS))]
    return tuple(dict.fromkeys(term[:MAX_WORD_CHARS] for term in found if term))


def _parts(whole: str) -> list[str]:
    return [part for piece in _CAMEL.split(whole) for part in _PART.findall(piece)]


def _is_code(whole: str) -> bool:
    """Whether the parts alone mean little: numbers with letters, capitals and underscores, letters with a sign."""
    # Two searches, because one pattern with any text between them would take the square of the length.
    mixed = bool(_LETTER_ANYWHERE.search(whole) and _DIGIT_ANYWHERE.search(whole))
    return mixed or any(pattern.search(whole) for pattern in (_DIGITS_APART, _CONSTANT, _SIGNS))


def _spellings(whole: str) -> list[str]:
    parts = _parts(whole)
    if len(parts) == 1 and whole.isalnum():
        return parts
    # The part of a name like C++ or C# alone would find every C.
    return [_join(whole)] if len(parts) == 1 else [*parts, _join(whole)]


def _versions(whole: str) -> list[str]:
    """`3`, `3.11` and `3.11.7` of `v3.11.7`, the shortest left out; none of anything but a version number.

    The last one is the whole number, however long it is.
    """
    match = _VERSION.fullmatch(whole)
    numbers = match.group(1).split(".") if match else []
    counts = [*range(2, min(len(numbers), _MAX_VERSION_PREFIXES + 1)), len(numbers)] if numbers else []
    return [".".join(numbers[:count]) for count in counts]


def _join(identifier: str) -> str:
    """One spelling of `HTTP/2` and `http2`, `snake_case` and `snakeCase`; `C++` and `C#` keep their signs."""
    return re.sub(r"[^\w+#]|_", "", _fold(identifier))


def _stem_all(word: str, languages: tuple[str, ...]) -> list[str]:
    lowered = word.lower()
    folded = _fold(lowered)
    if not languages or not word.isalpha() or not _STEMMED.search(folded):
        return [folded]
    # Folding comes after stemming, and the folded form is stemmed too: "configuracao" must meet "configuração".
    forms = sorted({lowered, folded})
    return [_fold(_stem(form, language)) for language in languages for form in forms]


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
    # Without the library's own cache, which counts words and not bytes.
    return Stemmer.Stemmer(STEMMERS[language], 0)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    # Voiced kana marks are letters, not accents: compose again what is not Latin, Greek or Cyrillic.
    kept = "".join(mark for mark in decomposed if not "\u0300" <= mark <= "\u036f")
    return unicodedata.normalize("NFC", kept)


_TEXT_WORDS: Final = {
    languages: WordCache(partial(_word_terms, languages=languages))
    for languages in (*((language,) for language in STEMMERS), tuple(STEMMERS))
}
"""Terms of a text's words by the languages of their stems: one language in publishing, all of them in excerpts."""
