"""The encoder of multilingual-e5-small as an ONNX model: embedded tokens in, their mean out.

Looking up words stays outside: their table is four fifths of the weights, and a text needs a few rows of it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from knowledge.embedding.base import Vectors
from publish_knowledge.embedding.fast_e5.weights import E5Weights

INPUT: Final = "tokens"
OUTPUT: Final = "mean"
_FUSED: Final = "com.microsoft"
"""The domain of onnxruntime's own operators."""

_OPSETS: Final = (("", 20), (_FUSED, 1))
_IR_VERSION: Final = 10

_SIGNED: Final = 127
_UNSIGNED: Final = 255
_ZERO: Final = 128
_GELU_FLOOR: Final = 0.17
"""GELU never goes below -0.16998: with this added its values are positive, and none of the 255 steps is idle."""


class E5Graph:
    """Builds the model once: `E5Graph(weights, exact=…).model()`.

    With `exact` the products are float32. Without, they are of 8-bit integers, with one scale per token and one per
    output: a text's vector never depends on its neighbours in a batch.
    """

    def __init__(self, weights: E5Weights, *, exact: bool) -> None:
        self._weights = weights
        self._sizes = weights.sizes
        self._exact = exact
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}

    def model(self) -> bytes:
        """The serialised model: `tokens` (texts, length, width) to `mean` (texts, width), both float32."""
        found = self._normal(INPUT, "emb.ln")
        for place in range(self._sizes.layers):
            found = self._layer(found, f"l{place}")
        axis = self._constant("axis.length", np.array([1], np.int64))
        self._nodes.append(helper.make_node("ReduceMean", [found, axis], [OUTPUT], keepdims=0))
        return self._serialised()

    def _layer(self, tokens: str, name: str) -> str:
        seen = self._normal(self._sum(tokens, self._linear(self._attention(tokens, name), f"{name}.ao")), f"{name}.aln")
        inner = self._activated(seen, f"{name}.fi")
        outer = self._linear(inner, f"{name}.fo", floor=_GELU_FLOOR)
        return self._normal(self._sum(seen, outer), f"{name}.oln")

    def _attention(self, tokens: str, name: str) -> str:
        joined = self._linear(tokens, f"{name}.q", f"{name}.k", f"{name}.v")
        parts = [f"{name}.{part}" for part in ("queries", "keys", "values")]
        self._nodes.append(helper.make_node("Split", [joined], parts, axis=-1, num_outputs=len(parts)))
        return self._fused("MultiHeadAttention", *parts, num_heads=self._sizes.heads)

    def _activated(self, tokens: str, name: str) -> str:
        return self._fused("BiasGelu", *self._product(tokens, [name], None))

    def _linear(self, tokens: str, *names: str, floor: float | None = None) -> str:
        return self._sum(*self._product(tokens, list(names), floor))

    def _product(self, tokens: str, names: list[str], floor: float | None) -> tuple[str, str]:
        """Names of the product without its bias, and of the bias."""
        inputs = self._sizes.inner if names[0].endswith(".fo") else self._sizes.width
        matrix = np.concatenate([self._weights.matrix(f"{name}.w", inputs) for name in names])
        bias = np.concatenate([self._weights.vector(f"{name}.b") for name in names])
        if self._exact:
            product = self._node("MatMul", tokens, self._constant(f"{names[0]}.w", matrix.T))
            return product, self._constant(f"{names[0]}.b", bias)
        return self._integer_product(tokens, names[0], matrix, bias, floor)

    def _integer_product(
        self, tokens: str, name: str, matrix: Vectors, bias: Vectors, floor: float | None
    ) -> tuple[str, str]:
        scales = np.abs(matrix).max(axis=1) / _SIGNED
        whole = np.rint(matrix / scales[:, np.newaxis])
        weights = self._constant(f"{name}.w", whole.T.astype(np.int8))
        columns = self._constant(f"{name}.s", scales)
        small, rows, zero = self._raised(tokens, floor) if floor else self._centred(tokens)
        one = self._constant("one", np.array(1, np.float32))
        product = self._node("Mul", self._fused("MatMulIntegerToFloat", small, weights, one, columns, zero), rows)
        # What was added to every input comes out as the same in every product, so the bias takes it back.
        surplus = (floor or 0.0) * whole.sum(axis=1) * scales
        return product, self._constant(f"{name}.b", bias - surplus)

    def _centred(self, tokens: str) -> tuple[str, str, str]:
        """Names of the tokens as bytes around 128, of one scale per token, and of the zero."""
        rows = self._scale(self._node("Abs", tokens), _SIGNED)
        middle = self._constant("middle", np.array([_ZERO], np.float32))
        small = self._bytes(self._sum(self._node("Div", tokens, rows), middle))
        return small, rows, self._constant("zero.middle", np.array(_ZERO, np.uint8))

    def _raised(self, tokens: str, floor: float) -> tuple[str, str, str]:
        """The same for tokens that never go below -`floor`: bytes from 0."""
        lifted = self._sum(tokens, self._constant("floor", np.array([floor], np.float32)))
        rows = self._scale(lifted, _UNSIGNED)
        return self._bytes(self._node("Div", lifted, rows)), rows, self._constant("zero.low", np.array(0, np.uint8))

    def _scale(self, positive: str, steps: int) -> str:
        largest = self._node("ReduceMax", positive, self._constant("axis.width", np.array([-1], np.int64)))
        return self._node("Div", largest, self._constant(f"steps.{steps}", np.array([steps], np.float32)))

    def _bytes(self, numbers: str) -> str:
        return self._node("Cast", self._node("Round", numbers), to=TensorProto.UINT8)

    def _normal(self, tokens: str, name: str) -> str:
        gain, shift = (self._constant(f"{name}.{part}", self._weights.vector(f"{name}.{part}")) for part in "wb")
        return self._node("LayerNormalization", tokens, gain, shift, epsilon=self._sizes.epsilon, axis=-1)

    def _sum(self, left: str, right: str) -> str:
        return self._node("Add", left, right)

    def _fused(self, operator: str, *inputs: str, **attributes: int) -> str:
        return self._node(operator, *inputs, domain=_FUSED, **attributes)

    def _node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401 - whatever the operator takes
        output = f"{operator}.{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def _constant(self, name: str, value: np.ndarray) -> str:
        if name not in self._constants:
            kept = value.astype(np.float32) if value.dtype == np.float64 else value
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(kept), name)
        return name

    def _serialised(self) -> bytes:
        width = self._sizes.width
        tokens = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["texts", "length", width])
        mean = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["texts", width])
        graph = helper.make_graph(self._nodes, "e5", [tokens], [mean], list(self._constants.values()))
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS]
        model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()
        return model
