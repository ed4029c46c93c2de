"""The words of a query, and the terms that find each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from knowledge.search.analysis import MAX_QUERY_WORDS, AnalyzedQuery, limit_query
from knowledge.search.stop_words import find_stop_words
from knowledge.search.words.chains import (
    Piece,
    find_file_name,
    is_code,
    join,
    join_name,
    read_number,
    split_chain,
    split_signs,
    strip_possessive,
)
from knowledge.search.words.folding import fold, stem_in_all_languages
from knowledge.search.words.neighbours import find_long_number, join_digits, join_unit
from knowledge.search.words.normalization import normalize
from knowledge.search.words.text import list_pairs
from knowledge.search.words.tokens import Token, tokenize

_HIRAGANA_PAIR: Final = re.compile("[\u3041-\u309f]{2}")

_ADDED_WORD: Final = 4
"""Letters of a word that may have been added to a code: `COVID-19-Impfung`, not `arm64-v8a`."""


def analyze_query(query: str) -> AnalyzedQuery:
    """The words of a query, stemmed in several languages because its own is unknown.

    At most the first `MAX_QUERY_WORDS` distinct words, and of these the first `MAX_QUERY_TERMS` distinct terms.

    Stop words are left out of a question, unless it holds nothing else or they are written as names (`IT`, `WHO`).
    """
    normalized = normalize(query)
    found = list(tokenize(normalized))
    stop_words = find_stop_words([fold(token.text) for token in found if not token.unspaced])
    capitals = normalized == normalized.upper()
    topical = [token for token in found if not _is_grammar(token, stop_words, capitals=capitals)]
    words: dict[tuple[str, ...], str] = {}
    counts = Counter[tuple[str, ...]]()
    for source, word in _list_words(topical or found, normalized):
        words.setdefault(word, source)
        counts[word] += 1
    return limit_query([(source, word) for word, source in words.items() if word][:MAX_QUERY_WORDS], counts)


def _is_grammar(token: Token, stop_words: frozenset[str], *, capitals: bool) -> bool:
    if token.unspaced or fold(token.text) not in stop_words:
        return False
    return capitals or len(token.text) == 1 or not token.text.isupper()


def _list_words(tokens: Sequence[Token], text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word's source and terms."""
    at = 0
    while at < len(tokens):
        count, word = _find_word(tokens[at:], text)
        yield fold(text[tokens[at].start : tokens[at + count - 1].end]), tuple(dict.fromkeys(word))
        at += count


def _find_word(tokens: Sequence[Token], text: str) -> tuple[int, Iterable[str]]:
    """How many of the first tokens are one word, and its terms."""
    groups, digits = find_long_number(tokens, text)
    if groups:
        return groups, (digits,)
    if unit := _find_unit(tokens[:2], text):
        return 2, unit
    return 1, _list_terms(tokens[0])


def _find_unit(tokens: Sequence[Token], text: str) -> tuple[str, ...]:
    """The terms of a number and its unit, if the tokens are these."""
    if len(tokens) == 1 or not tokens[0].text[-1].isdecimal() or text[tokens[0].end : tokens[1].start] != " ":
        return ()
    return tuple(join_unit(tokens[0].text, tokens[1].text))


def _list_terms(token: Token) -> Iterator[str]:
    """Terms that a token of a query looks for: fewer, where some of a text's would find too much."""
    if token.unspaced:
        pairs = list_pairs(fold(token.text))
        # Two hiragana are mostly grammar, which every text has; alone they are a word.
        yield from [pair for pair in pairs if not _HIRAGANA_PAIR.fullmatch(pair)] or pairs
        return
    chain = strip_possessive(token.text)
    if token.sign:
        yield token.sign.strip() + fold(chain)
    body, signs = split_signs(chain)
    pieces = split_chain(body)
    if signs:
        yield join(pieces) + (signs if len(pieces) == 1 else "")
    elif is_code(body, pieces):
        yield from _list_code_terms(pieces)
    else:
        yield from _list_name_terms(pieces)


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
    added = not last.digits and last.word != pieces[-2].word and len(last.text) >= _ADDED_WORD
    return added and len(pieces) > 2  # noqa: PLR2004 - a code has two


def _list_name_terms(pieces: list[Piece]) -> Iterator[str]:
    for piece in pieces:
        if len(piece.text) > 1 or len(pieces) == 1:
            yield from [fold(piece.text)] if piece.digits else stem_in_all_languages(piece.text)
    if len(pieces) > 1:
        yield from stem_in_all_languages(join(pieces))
