"""The words of a query, and the terms that find each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from knowledge.search.analysis import MAX_QUERY_WORDS, AnalyzedQuery, limit_query
from knowledge.search.stop_words import find_stop_words
from knowledge.search.word_cache import WordCache
from knowledge.search.words.chains import (
    Piece,
    find_file_name,
    is_code,
    join,
    join_name,
    read_number,
    split_chain,
    split_scheme,
    split_signs,
    strip_possessive,
)
from knowledge.search.words.folding import QUERY_LANGUAGES, STEMMERS, fold, stem_in_all_languages
from knowledge.search.words.neighbours import MAX_GROUPS, find_long_number, is_gap, join_digits, join_unit
from knowledge.search.words.normalization import normalize
from knowledge.search.words.question_language import guess_language
from knowledge.search.words.text import SIGNS, list_pairs
from knowledge.search.words.tokens import MAX_PIECE_CHARS, Token, tokenize

_CACHE_BYTES: Final = 512 * 1024
"""Words of queries, for all the languages of queries together and for each other one: some 1,500."""

_HIRAGANA_PAIR: Final = re.compile("[\u3041-\u309f]{2}")

_NAMES_ARE_CAPITALIZED: Final = frozenset({"en", "es", "pt"})
"""Languages with stop words in which a capital inside a sentence marks a name: `vitamin A`, `a song of The Who`."""

_SIGNS_OF_CODE: Final = ("--", "@", "$")
"""A name of several words behind one of these is a code: `--dry-run`, `@scope/package`, not `.env-file`. A dot is one
before a path: `.ssh/config`."""

_ADDED_WORD: Final = 4
"""Letters of a word that may have been added to a code: `COVID-19-Impfung`, not `arm64-v8a`."""


def analyze_query(query: str) -> AnalyzedQuery:
    """The words of a query, stemmed in several languages because its own is unknown.

    At most the first `MAX_QUERY_WORDS` distinct words, and of these the first `MAX_QUERY_TERMS` distinct terms.

    Stop words are left out of a question, unless it holds nothing else or they are written as names (`IT`, `WHO`).
    """
    normalized = normalize(query)
    language = guess_language(normalized)
    found = list(tokenize(normalized))
    stop_words = find_stop_words([fold(token.text) for token in found if not token.unspaced])
    topical = list(_drop_grammar(found, normalized, stop_words, language)) if stop_words else found
    words: dict[tuple[str, ...], str] = {}
    counts = Counter[tuple[str, ...]]()
    for source, word in _list_words(topical or found, normalized, language):
        words.setdefault(word, source)
        counts[word] += 1
    return limit_query([(source, word) for word, source in words.items() if word][:MAX_QUERY_WORDS], counts)


def _drop_grammar(tokens: list[Token], text: str, stop_words: frozenset[str], language: str) -> Iterator[Token]:
    """The tokens but for stop words that are not written as names, as far as the query's case tells names."""
    capitals = text == text.upper()
    # German writes polite pronouns like this, and a heading in title case every word.
    names = language in _NAMES_ARE_CAPITALIZED and any(
        token.text[0].islower() and fold(token.text) not in stop_words for token in tokens
    )
    for token in tokens:
        written = token.text.isupper() and len(token.text) > 1
        kept = not capitals and (written or (names and _is_name(token, text)))
        if kept or token.unspaced or fold(token.text) not in stop_words:
            yield token


def _is_name(token: Token, text: str) -> bool:
    """Whether a word begins with a capital that neither its sentence nor English explains."""
    before = text[: token.start].rstrip(" \"'([")
    return token.text[0].isupper() and token.text != "I" and bool(before) and before[-1] not in ".?!:;¿¡\n"


def _list_words(tokens: Sequence[Token], text: str, language: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word's source and terms."""
    at = 0
    while at < len(tokens):
        count, word = _find_word(tokens[at : at + MAX_GROUPS], text, language)
        yield fold(text[tokens[at].start : tokens[at + count - 1].end]), tuple(dict.fromkeys(word))
        at += count


def _find_word(tokens: Sequence[Token], text: str, language: str) -> tuple[int, Iterable[str]]:
    """How many of the first tokens are one word, and its terms."""
    first = tokens[0]
    if first.text[-1].isdecimal():
        groups, digits = find_long_number(tokens, text)
        if groups:
            return groups, (digits,)
        if unit := _find_unit(tokens[:2], text):
            return 2, unit
    if first.unspaced:
        return 1, _list_unspaced_terms(first.text)
    # A sign is no letter: no token is another's key.
    return 1, _load_cache(language if language in STEMMERS and language not in QUERY_LANGUAGES else "")[
        first.sign + first.text
    ]


def _find_unit(tokens: Sequence[Token], text: str) -> tuple[str, ...]:
    """The terms of a number and its unit, if the tokens are these."""
    if len(tokens) == 1 or not tokens[0].text[-1].isdecimal() or not is_gap(text[tokens[0].end : tokens[1].start]):
        return ()
    return tuple(join_unit(tokens[0].text, tokens[1].text))


def _list_unspaced_terms(run: str) -> list[str]:
    pairs = list_pairs(fold(run))
    # Two hiragana are mostly grammar, which every text has; alone they are a word.
    return [pair for pair in pairs if not _HIRAGANA_PAIR.fullmatch(pair)] or pairs


@lru_cache(maxsize=len(STEMMERS) + 1)
def _load_cache(language: str) -> WordCache:
    return WordCache(lambda signed: tuple(dict.fromkeys(_list_terms(signed, language))), _CACHE_BYTES)


def _list_terms(signed: str, language: str) -> Iterable[str]:
    """Terms that a chain of a query looks for: fewer, where some of a text's would find too much."""
    if signed.isalpha() and (signed.islower() or signed.istitle()):
        return stem_in_all_languages(signed[:MAX_PIECE_CHARS], language)
    return _list_chain_terms(signed, language)


def _list_chain_terms(signed: str, language: str) -> Iterator[str]:
    bare = signed.lstrip(SIGNS)
    sign = signed[: len(signed) - len(bare)].strip()
    chain = strip_possessive(bare)
    if sign:
        yield sign + fold(chain)
    body, signs = split_signs(split_scheme(chain)[1])
    pieces = split_chain(body)
    if signs:
        yield join(pieces) + (signs if len(pieces) == 1 else "")
    elif is_code(body, pieces) or (len(pieces) > 1 and _makes_code(sign, body)):
        yield from _list_code_terms(pieces)
    else:
        yield from _list_name_terms(pieces, language)


def _makes_code(sign: str, body: str) -> bool:
    return sign in _SIGNS_OF_CODE or (sign == "." and "/" in body)


def _list_code_terms(pieces: list[Piece]) -> Iterator[str]:
    """A code is searched for as a whole: its pieces would find `HTTP/1.1` for `HTTP/2`."""
    if pieces[0].text in ("v", "V") and len(pieces) > 2 and pieces[1].digits and not pieces[1].joint:  # noqa: PLR2004 - v and two numbers
        pieces = pieces[1:]
    whole = join(pieces)
    yield whole
    yield from read_number(whole)
    if file_name := find_file_name(pieces):
        yield join_name(file_name)
    if _has_added_word(pieces):
        yield join(pieces[:-1])
    if all(piece.digits for piece in pieces):
        yield from join_digits(pieces)


def _has_added_word(pieces: list[Piece]) -> bool:
    """Whether a word was added to a code: `Impfung` to `COVID-19`."""
    last = pieces[-1]
    added = not last.digits and pieces[-2].digits and last.word != pieces[-2].word and len(last.text) >= _ADDED_WORD
    return added and len(pieces) > 2  # noqa: PLR2004 - a code has two


def _list_name_terms(pieces: list[Piece], language: str) -> Iterator[str]:
    for piece in pieces:
        if len(piece.text) > 1 or len(pieces) == 1:
            yield from [fold(piece.text)] if piece.digits else stem_in_all_languages(piece.text, language)
    if len(pieces) > 1:
        yield from stem_in_all_languages(join(pieces), language)
