"""Vectors as every embedding provider makes them: float32, of length 1, so that a dot product is the cosine."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

_MINIMUM_NORM: Final = 1e-6
"""A shorter vector has no direction: its cosine with anything is noise."""


def directions(vectors: Any) -> Vectors:  # noqa: ANN401 - array-like of an untyped package
    """Rows of length 1 from rows of any length; raises `ValueError` for one that has no direction."""
    found = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(found).all() or bool((norms < _MINIMUM_NORM).any()):
        msg = "the embedding model returned a vector without direction"
        raise ValueError(msg)
    return np.asarray(found / norms, dtype=np.float32)
