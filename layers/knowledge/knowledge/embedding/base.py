"""What every embedding provider offers, and the rule for what counts as a fault of its model.

Vectors are float32 of length 1, so that a dot product is the cosine.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from knowledge.errors import StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Vectors = npt.NDArray[np.float32]

_MINIMUM_NORM: Final = 1e-6
"""A shorter vector has no meaningful direction, and no meaningful cosine."""


class EmbeddingProvider(Protocol):
    """An embedding model. `model` names the weights, so that two providers of one model may share a dataset."""

    @property
    def model(self) -> str:
        """Name and version of the model, written into the dataset."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    def embed_query(self, text: str) -> Vectors:
        """Embed one query; shape (dimensions,). Blocks; may be called from any thread."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; shape (len(texts), dimensions). Blocks; may be called from any thread."""


@runtime_checkable
class Remote(Protocol):
    """What a provider of a model on the network offers in addition."""

    def prepare(self) -> None:
        """Load what needs no connection."""

    def renew(self) -> None:
        """Drop connections and credentials; the next call makes new ones."""


class EmbeddingUnavailableError(StorageUnavailableError):
    """A remote model returned no vectors. The message is for the operator and says what to do."""


class QueryEmbeddingError(StorageUnavailableError):
    """A query could not be embedded; nothing is wrong with the store. The message is for callers."""


MODEL_FAULTS: Final = (EmbeddingUnavailableError, ImportError, MemoryError, OSError, RuntimeError, ValueError)
"""What models raise when they cannot work: a service out of reach, a native library or weights that cannot be loaded,
no memory left, an engine that fails, vectors without a direction. All else is a programming error."""


@contextmanager
def embedding_faults() -> Iterator[None]:
    """Turn `MODEL_FAULTS` into `QueryEmbeddingError`; let programming errors pass."""
    try:
        yield
    except MODEL_FAULTS as error:
        raise QueryEmbeddingError from error


def normalize_rows(vectors: Any) -> Vectors:  # noqa: ANN401 - array-like of an untyped package
    """Scale rows of shape (n, dimensions) to length 1; raises `ValueError` for a row without a direction."""
    found = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(found).all() or bool((norms < _MINIMUM_NORM).any()):
        msg = "the embedding model returned a vector without direction"
        raise ValueError(msg)
    return np.asarray(found / norms, dtype=np.float32)
