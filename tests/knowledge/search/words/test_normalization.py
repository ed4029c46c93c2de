"""Normalization: what one character or piece of markup becomes, and where it came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.words.normalization import normalize, normalize_with_sources

CASES = [
    ("plain", "plain"),
    ("ＦＵＬＬ", "FULL"),
    ("key\u200bboard", "keyboard"),
    ("inter\u00adnational", "international"),
    ("non‑breaking", "non-breaking"),
    ("8:00–17:00", "8:00-17:00"),
    ("one—two", "one—two"),
    ("it’s", "it's"),
    (r"C\# and A\_B", "C# and A_B"),
    ("a\\b", "a\\b"),
    ("env&iacute;os &amp; &#65;", "envíos & A"),
    ("CO<sub>2</sub>", "CO2"),
    ('<span class="x">in</span>side', "inside"),
    ("<table>", "<table>"),
    ("infor-\nmation", "infor-mation"),
    ("infor\u00ad\n  mation", "information"),
    ("- one\n- two", "- one\n- two"),
    ("ﾙｰﾀｰ ｶﾞ", "ルーター ガ"),
    ("e\u0301", "é"),
    ("ptr->next, a -> b", "ptr::next, a -> b"),
    ("1920×1080, 2 × 3", "1920x1080, 2 × 3"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_markup_and_characters_are_normalized(text: str, expected: str) -> None:
    assert normalize(text) == expected
    assert normalize_with_sources(text).text == expected


MIXED = st.lists(
    st.sampled_from(
        [*(text for text, _ in CASES), "ﬁ", "\u0301", "\u09be", "\u1161", "ﾞ", "&", "<b>", "\\", "-\n", "a", " "]
    )
    | st.text(max_size=4)
).map("".join)


@given(MIXED)
def test_sources_belong_to_the_same_text_and_keep_its_order(text: str) -> None:
    found = normalize_with_sources(text)
    assert found.text == normalize(text)
    ranges = list(zip(found.starts, found.ends, strict=True))
    assert len(ranges) == len(found.text)
    assert all(0 <= start <= end <= len(text) for start, end in ranges)
    assert ranges == sorted(ranges)


@pytest.mark.parametrize(
    ("text", "word", "source"),
    [
        ("see CO<sub>2</sub> there", "CO2", "CO<sub>2"),
        ("the ﬁnal word", "final", "ﬁnal"),
        ("the ﬁnal word", "word", "word"),
        ("key\u200bboard now", "keyboard", "key\u200bboard"),
        ("（設定）を開く", "設定", "設定"),
        ("env&iacute;os hoy", "envíos", "env&iacute;os"),
        ("env&iacute;os hoy", "hoy", "hoy"),
        (r"A\_B c", "A_B", r"A\_B"),
    ],
)
def test_a_word_is_found_at_its_place_in_the_original(text: str, word: str, source: str) -> None:
    found = normalize_with_sources(text)
    start = found.text.index(word)
    assert text[found.starts[start] : found.ends[start + len(word) - 1]] == source
