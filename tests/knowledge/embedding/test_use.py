"""The small local model: one space for queries and passages, and any text has a vector."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.embedding.use import UniversalSentenceEncoder

MODEL = UniversalSentenceEncoder()


def test_a_query_is_embedded_as_a_passage_is() -> None:
    assert MODEL.embed_query("Open the valve.") == pytest.approx(MODEL.embed_passages(["Open the valve."])[0])


def test_any_text_has_a_vector_of_length_one() -> None:
    found = MODEL.embed_passages(["", " ", "\0", "Öffne das Ventil 🙂", "x" * 10_000])
    assert found.shape == (5, MODEL.dimensions)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)


def test_languages_share_one_space() -> None:
    english, german, other = MODEL.embed_passages(["Open the valve.", "Öffne das Ventil.", "The ship sailed at noon."])
    assert english @ german > english @ other + 0.2
