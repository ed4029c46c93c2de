"""The ONNX model of the encoder: its shape, and that both kinds of products agree."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

from knowledge.embedding.base import Vectors
from publish_knowledge.embedding.fast_e5.graph import INPUT, OUTPUT, E5Graph
from publish_knowledge.embedding.fast_e5.weights import E5Weights, open_weights


@pytest.fixture(scope="module")
def weights() -> E5Weights:
    return open_weights()


def run(model: bytes, tokens: Vectors) -> Vectors:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    found: Vectors = session.run(None, {INPUT: tokens})[0]
    return found


def test_the_model_maps_embedded_tokens_to_one_mean_for_each_text(weights: E5Weights) -> None:
    graph = onnx.load_from_string(E5Graph(weights, exact=True).build()).graph
    assert [one.name for one in graph.input] == [INPUT]
    assert [one.name for one in graph.output] == [OUTPUT]
    operators = [node.op_type for node in graph.node]
    assert operators.count("MultiHeadAttention") == operators.count("BiasGelu") == weights.sizes.layers
    assert operators[-1] == "ReduceMean"


def test_integer_products_agree_with_exact_ones(weights: E5Weights) -> None:
    ids = np.random.default_rng(7).integers(1_000, 100_000, (3, 20))
    words = weights.read_rows("emb.word", weights.sizes.width, ids.reshape(-1))
    positions = weights.read_vector("emb.pos").reshape(-1, weights.sizes.width)[: ids.shape[1]]
    tokens = words.reshape(*ids.shape, -1) + positions + weights.read_vector("emb.type")[: weights.sizes.width]
    exact, fast = (run(E5Graph(weights, exact=exact).build(), tokens) for exact in (True, False))
    assert exact.shape == (3, weights.sizes.width)
    norms = np.linalg.norm(exact, axis=1) * np.linalg.norm(fast, axis=1)
    # Without VNNI the integer kernels of x86 saturate, which is why they are not used there: a wide margin suffices.
    assert ((exact * fast).sum(axis=1) / norms).min() > 0.98
