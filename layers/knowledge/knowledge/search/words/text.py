"""Terms of a text to be indexed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Final

from knowledge.search.analysis import SplitCompound, limit_growth
from knowledge.search.excerpts import FoundWord
from knowledge.search.word_cache import WordCache
from knowledge.search.words.chains import (
    Piece,
    is_code,
    join,
    join_name,
    list_folders,
    list_names,
    list_runs,
    read_number,
    split_chain,
    split_scheme,
    split_signs,
    strip_possessive,
)
from knowledge.search.words.folding import FALLBACK, QUERY_LANGUAGES, STEMMERS, fold, stem_in_language
from knowledge.search.words.neighbours import continue_number, is_gap, join_digits, join_groups, join_neighbours
from knowledge.search.words.normalization import normalize, normalize_with_sources
from knowledge.search.words.tokens import MAX_PIECE_CHARS, Token, find_tokens, is_unspaced, to_token

_SINGLES: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3]")
"""Han and Hangul characters, which may be words alone."""

SIGNS: Final = "-.@$§[! "
"""Characters of the signs before a chain."""

_ONE_NAME: Final = 3
"""A name of so many letters before its signs is searched for without them as well: `Notepad++`, not `C++`."""


def analyze_text(text: str, language: str, split_compound: SplitCompound | None = None) -> list[str]:
    """Terms of a text to be indexed, in order, repeats kept (they are the term frequencies).

    `split_compound` gives the parts of a compound, none for any other word; their terms are added to its own.
    """
    language = language if language in STEMMERS else FALLBACK
    normalized = normalize(text)
    known = _load_cache((language,))
    terms: list[str] = []
    groups: list[Token] = []
    before, before_number = None, False
    for match in find_tokens(normalized):
        found = match.group()
        terms += known[found]
        if match.lastgroup == "unspaced":
            before, before_number = None, False
            continue
        if split_compound is not None and found.isalpha():
            terms += [stem for part in split_compound(found) for stem in stem_in_language(part, language)[:1]]
        number = found[-1].isdecimal() or found[0].isdecimal()
        # Most words neither are numbers nor stand beside one.
        if number:
            groups = continue_number(groups, to_token(match), normalized)
            terms += join_groups(groups)
        if (number or before_number) and before is not None and is_gap(normalized[before.end() : match.start()]):
            terms += join_neighbours(before.group(), found)
        before, before_number = match, number
    return limit_growth(terms, text)


def find_words(text: str) -> list[FoundWord]:
    """The words of a text whose language is unknown, in order, at their places in it."""
    normalized = normalize_with_sources(text)
    known = _load_cache(QUERY_LANGUAGES)
    starts, ends = normalized.starts, normalized.ends
    return [
        FoundWord(starts[match.start()], ends[match.end() - 1], match.lastgroup == "unspaced", known[match.group()])
        for match in find_tokens(normalized.text)
    ]


def list_pairs(run: str) -> list[str]:
    """The overlapping pairs of characters of an unspaced run, or its only character."""
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


@lru_cache(maxsize=len(STEMMERS) + 1)
def _load_cache(languages: tuple[str, ...]) -> WordCache:
    return WordCache(partial(_list_word_terms, languages=languages))


def _list_word_terms(signed: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Terms of a token: an unspaced run, or a chain with the sign before it, if there is one."""
    if is_unspaced(signed):
        run = fold(signed)
        return tuple(dict.fromkeys([*list_pairs(run), *_SINGLES.findall(run)]))
    chain = signed.lstrip(SIGNS)
    found = [term for language in languages for term in _list_chain_terms(strip_possessive(chain), language)]
    if len(chain) < len(signed):
        found.append(signed[: -len(chain)].strip() + fold(chain))
    return tuple(dict.fromkeys(term for term in found if term))


def _list_chain_terms(chain: str, language: str) -> Iterable[str]:
    if chain.isalpha() and (chain.islower() or chain.istitle()):
        return stem_in_language(chain[:MAX_PIECE_CHARS], language)
    return _find_terms(chain, language)


def _find_terms(chain: str, language: str) -> Iterator[str]:
    scheme, address = split_scheme(chain)
    if scheme:
        yield from stem_in_language(scheme.rstrip(":/"), language)
    body, signs = split_signs(address)
    pieces = split_chain(body)
    if signs:
        yield join(pieces[-1:]) + signs
    if not signs or len(body) >= _ONE_NAME:
        for piece in pieces:
            yield from _list_piece_terms(piece, language)
    yield from _list_run_terms(body, pieces, language)
    for before, after in itertools.pairwise(pieces):
        if after.joint and not after.joint.strip("+#"):
            yield join([before]) + after.joint
    if len(pieces) > 1 and all(piece.digits for piece in pieces):
        yield from join_digits(pieces)


def _list_run_terms(body: str, pieces: list[Piece], language: str) -> Iterator[str]:
    # Codes are not stemmed in queries, and names in one word (`max_retries`, `NodeJS`) may be written as codes there.
    code = is_code(body, pieces)
    name = len({piece.word for piece in pieces}) < len(pieces)
    for run in list_runs(pieces):
        term = join(run)
        if code or name or not term.isalpha():
            yield term
        if not code and term.isalpha():
            yield from stem_in_language(term, language)
        yield from read_number(term)
    if code:
        yield from map(join_name, list_names(pieces))
        yield from map(join, list_folders(pieces))


def _list_piece_terms(piece: Piece, language: str) -> list[str]:
    if piece.digits:
        return [fold(piece.text)]
    text = piece.text
    if len(text) > 2 and text[-1] == "s" and text[:-1].isupper():  # noqa: PLR2004 - two capitals and the s of a plural
        return [*stem_in_language(text, language), fold(text[:-1])]
    return stem_in_language(text, language)
