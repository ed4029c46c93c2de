"""Text is what UTF-8 can hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.text import is_unicode

CHARACTERS = st.characters(exclude_categories=[]) | st.characters(categories=["Cs"])


@pytest.mark.parametrize("text", ["", "plain", "é\u0301 漢字 🎉", "\0", "\ud7ff\ue000", "\uffff\U0010ffff"])
def test_every_text_without_a_lone_surrogate_is_unicode(text: str) -> None:
    assert is_unicode(text)


@pytest.mark.parametrize("code_point", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_a_lone_surrogate_anywhere_is_not_unicode(code_point: int) -> None:
    surrogate = chr(code_point)
    assert not any(map(is_unicode, [surrogate, f"{surrogate}after", f"before{surrogate}", f"a{surrogate}z"]))


@given(st.text(CHARACTERS))
def test_unicode_is_what_can_be_encoded_as_utf_8(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        assert not is_unicode(text)
    else:
        assert is_unicode(text)
