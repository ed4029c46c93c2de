"""Tokens: chains, the signs before them, and runs of unspaced scripts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.words.normalization import normalize
from knowledge.search.words.tokens import is_unspaced, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Two words.", ["Two", "words"]),
        ("process.env.NODE_ENV, then", ["process.env.NODE_ENV", "then"]),
        ("8:00-17:00", ["8:00-17:00"]),
        ("25,000 or a,b", ["25,000", "or", "a", "b"]),
        ("C++, C# and C", ["C++", "C#", "and", "C"]),
        ("ログにERRと", ["ログに", "ERR", "と"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("서울에서 API를", ["서울에서", "API", "를"]),
    ],
)
def test_a_text_is_cut_into_chains_and_runs(text: str, tokens: list[str]) -> None:
    assert [token.text for token in tokenize(text)] == tokens


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("--flag", "--"),
        ("(.env)", "."),
        ("§ 433", "§ "),
        ("$HOME", "$"),
        ("@scope", "@"),
        ("[!note]", "[!"),
        ("a-b", ""),
    ],
)
def test_a_sign_before_a_chain_is_kept(text: str, sign: str) -> None:
    assert [token.sign for token in tokenize(text)] == [sign]


@given(st.text(max_size=300).map(normalize))
def test_tokens_are_exact_slices_in_order(text: str) -> None:
    found = list(tokenize(text))
    assert all(text[token.start : token.end] == token.sign + token.text for token in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    assert all(token.unspaced == is_unspaced(token.text) for token in found)


@given(st.text(max_size=300).map(normalize))
def test_no_letter_or_digit_is_left_out(text: str) -> None:
    covered = {at for token in tokenize(text) for at in range(token.start, token.end)}
    assert all(at in covered for at, sign in enumerate(text) if sign.isalnum())
