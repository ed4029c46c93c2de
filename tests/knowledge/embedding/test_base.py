"""Vectors of length 1, and which failures of a model count as outages."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.embedding.base import EmbeddingUnavailableError, embedding_faults, normalize_rows
from knowledge.errors import StorageUnavailableError


def test_rows_keep_their_direction_and_get_length_one() -> None:
    found = normalize_rows([[3, 4], [-5, 0]])
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([[0.6, 0.8], [-1.0, 0.0]]))
    assert normalize_rows(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("broken", [0.0, 1e-8, float("nan"), float("inf"), float("-inf")])
def test_one_row_without_a_direction_is_refused(broken: float) -> None:
    with pytest.raises(ValueError, match="without direction"):
        normalize_rows([[1.0, 0.0], [broken, 0.0]])


@pytest.mark.parametrize(
    "fault",
    [
        EmbeddingUnavailableError("For the operator."),
        ImportError("no library"),
        FileNotFoundError("no weights"),
        MemoryError(),
        RuntimeError("the engine failed"),
        ValueError("a vector without direction"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_a_model_that_cannot_work_is_an_outage_whose_reason_callers_do_not_see(fault: Exception) -> None:
    with pytest.raises(StorageUnavailableError) as caught, embedding_faults():
        raise fault
    assert caught.value.message == StorageUnavailableError().message
    assert caught.value.__cause__ is fault


@pytest.mark.parametrize("mistake", [TypeError, AttributeError, KeyError, NameError, AssertionError])
def test_programming_errors_of_a_provider_pass(mistake: type[Exception]) -> None:
    with pytest.raises(mistake), embedding_faults():
        raise mistake
