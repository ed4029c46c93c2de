"""Build the encoder of multilingual-e5-small as an ONNX model: embedded tokens in, their mean out.

The lookup of word embeddings stays outside the model: their table is four fifths of the weights, and a text needs only
a few of its rows.
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
"""GELU is never below -0.16998: with this added its values are positive, and all 255 steps are used."""


class E5Graph:
    """Builds the model once: `E5Graph(weights, exact=…).build()`.

    With `exact`, matrix products are float32; otherwise of 8-bit integers, with one scale per token and one per output:
    a text's vector never depends on its neighbours in a batch.

    Each method adds nodes to the graph and returns the name of its output.
    """

    def __init__(self, weights: E5Weights, *, exact: bool) -> None:
        self._weights = weights
        self._sizes = weights.sizes
        self._exact = exact
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}

    def build(self) -> bytes:
        """The serialised model: `tokens` (texts, length, width) to `mean` (texts, width), both float32."""
        tokens = self._add_layer_norm(INPUT, "emb.ln")
        for number in range(self._sizes.layers):
            tokens = self._add_layer(tokens, f"l{number}")
        axis = self._add_constant("axis.length", np.array([1], np.int64))
        self._nodes.append(helper.make_node("ReduceMean", [tokens, axis], [OUTPUT], keepdims=0))
        return self._serialize()

    def _add_layer(self, tokens: str, name: str) -> str:
        attended = self._add_layer_norm(
            self._add_sum(tokens, self._add_linear(self._add_attention(tokens, name), f"{name}.ao")), f"{name}.aln"
        )
        inner = self._add_activation(attended, f"{name}.fi")
        outer = self._add_linear(inner, f"{name}.fo", floor=_GELU_FLOOR)
        return self._add_layer_norm(self._add_sum(attended, outer), f"{name}.oln")

    def _add_attention(self, tokens: str, name: str) -> str:
        joined = self._add_linear(tokens, f"{name}.q", f"{name}.k", f"{name}.v")
        parts = [f"{name}.{part}" for part in ("queries", "keys", "values")]
        self._nodes.append(helper.make_node("Split", [joined], parts, axis=-1, num_outputs=len(parts)))
        return self._add_fused("MultiHeadAttention", *parts, num_heads=self._sizes.heads)

    def _add_activation(self, tokens: str, name: str) -> str:
        return self._add_fused("BiasGelu", *self._add_product(tokens, [name], None))

    def _add_linear(self, tokens: str, *names: str, floor: float | None = None) -> str:
        return self._add_sum(*self._add_product(tokens, list(names), floor))

    def _add_product(self, tokens: str, names: list[str], floor: float | None) -> tuple[str, str]:
        """Names of the product without bias, and of the bias."""
        inputs = self._sizes.inner if names[0].endswith(".fo") else self._sizes.width
        matrix = np.concatenate([self._weights.read_matrix(f"{name}.w", inputs) for name in names])
        bias = np.concatenate([self._weights.read_vector(f"{name}.b") for name in names])
        if self._exact:
            product = self._add_node("MatMul", tokens, self._add_constant(f"{names[0]}.w", matrix.T))
            return product, self._add_constant(f"{names[0]}.b", bias)
        return self._add_integer_product(tokens, names[0], matrix, bias, floor)

    def _add_integer_product(
        self, tokens: str, name: str, matrix: Vectors, bias: Vectors, floor: float | None
    ) -> tuple[str, str]:
        scales = np.abs(matrix).max(axis=1) / _SIGNED
        whole = np.rint(matrix / scales[:, np.newaxis])
        weights = self._add_constant(f"{name}.w", whole.T.astype(np.int8))
        columns = self._add_constant(f"{name}.s", scales)
        small, rows, zero = self._quantize_from_floor(tokens, floor) if floor else self._quantize_symmetric(tokens)
        one = self._add_constant("one", np.array(1, np.float32))
        product = self._add_node(
            "Mul", self._add_fused("MatMulIntegerToFloat", small, weights, one, columns, zero), rows
        )
        # The floor added to every input adds the same to every product; the bias subtracts it.
        surplus = (floor or 0.0) * whole.sum(axis=1) * scales
        return product, self._add_constant(f"{name}.b", bias - surplus)

    def _quantize_symmetric(self, tokens: str) -> tuple[str, str, str]:
        """Names of the tokens as bytes around 128, of one scale per token, and of the zero point."""
        rows = self._add_scale(self._add_node("Abs", tokens), _SIGNED)
        middle = self._add_constant("middle", np.array([_ZERO], np.float32))
        small = self._cast_to_bytes(self._add_sum(self._add_node("Div", tokens, rows), middle))
        return small, rows, self._add_constant("zero.middle", np.array(_ZERO, np.uint8))

    def _quantize_from_floor(self, tokens: str, floor: float) -> tuple[str, str, str]:
        """The same for tokens that are never below -`floor`: bytes from 0."""
        lifted = self._add_sum(tokens, self._add_constant("floor", np.array([floor], np.float32)))
        rows = self._add_scale(lifted, _UNSIGNED)
        return (
            self._cast_to_bytes(self._add_node("Div", lifted, rows)),
            rows,
            self._add_constant("zero.low", np.array(0, np.uint8)),
        )

    def _add_scale(self, positive: str, steps: int) -> str:
        largest = self._add_node("ReduceMax", positive, self._add_constant("axis.width", np.array([-1], np.int64)))
        return self._add_node("Div", largest, self._add_constant(f"steps.{steps}", np.array([steps], np.float32)))

    def _cast_to_bytes(self, numbers: str) -> str:
        return self._add_node("Cast", self._add_node("Round", numbers), to=TensorProto.UINT8)

    def _add_layer_norm(self, tokens: str, name: str) -> str:
        gain, shift = (
            self._add_constant(f"{name}.{part}", self._weights.read_vector(f"{name}.{part}")) for part in "wb"
        )
        return self._add_node("LayerNormalization", tokens, gain, shift, epsilon=self._sizes.epsilon, axis=-1)

    def _add_sum(self, left: str, right: str) -> str:
        return self._add_node("Add", left, right)

    def _add_fused(self, operator: str, *inputs: str, **attributes: int) -> str:
        return self._add_node(operator, *inputs, domain=_FUSED, **attributes)

    def _add_node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401 - attributes of any operator
        output = f"{operator}.{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def _add_constant(self, name: str, value: np.ndarray) -> str:
        if name not in self._constants:
            stored = value.astype(np.float32) if value.dtype == np.float64 else value
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(stored), name)
        return name

    def _serialize(self) -> bytes:
        width = self._sizes.width
        tokens = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["texts", "length", width])
        mean = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["texts", width])
        graph = helper.make_graph(self._nodes, "e5", [tokens], [mean], list(self._constants.values()))
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS]
        model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()
        return model
