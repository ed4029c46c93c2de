"""Which bytes are text, and that decoding changes nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publish_knowledge.sources.decoding import decode_text
from publish_knowledge.sources.file_errors import UnusableFileError


def test_a_byte_order_mark_is_dropped_and_nothing_else() -> None:
    text = "a\r\nb\rc\0d\u2028e\u0301\n\n  "
    assert decode_text(f"\ufeff\ufeff{text}".encode()) == "\ufeff" + text


@given(st.text())
def test_words_with_any_characters_among_them_are_returned_unchanged(text: str) -> None:
    words = "word " * (len(text) + 1) + text
    assert decode_text(words.encode()) == words


def test_a_text_with_some_nuls_is_a_text() -> None:
    assert decode_text(b"ab\0cd\0e") == "ab\0cd\0e"


def test_only_the_beginning_of_a_long_text_is_examined() -> None:
    text = "word " * 2_000 + "\0" * 100_000
    assert decode_text(text.encode()) == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "It is empty."),
        (b"\xef\xbb\xbf", "It is empty."),
        (b" \r\n\t\n", "It is empty."),
        (b"\x89PNG\r\n\x1a\n\0\0", "It is not valid UTF-8 (byte 0, line 1)"),
        (b"fine\ncaf\xe9\n", "It is not valid UTF-8 (byte 8, line 2)"),
        (b"\xed\xa0\x80 half of a pair", "It is not valid UTF-8"),
        ("text".encode("utf-16"), "It is UTF-16."),
        ("text".encode("utf-16-le"), "It looks like a binary file"),
        (bytes(range(32)) * 4, "It looks like a binary file"),
    ],
)
def test_bytes_that_are_not_utf8_text_are_refused_with_reason_and_remedy(content: bytes, reason: str) -> None:
    with pytest.raises(UnusableFileError) as refused:
        decode_text(content)
    assert str(refused.value).startswith(reason)
    assert str(refused.value).count(".") >= 2 or ", not a text. " in str(refused.value)
