from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from lambda_emulator.artifact import FUNCTION

TEMPLATE: Final = f"""
Resources:
  {FUNCTION}:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: {FUNCTION}
      Handler: tool.app.handler
      Layers: [{{Ref: EngineLayer}}, {{Ref: KnowledgeLayer}}]
      Environment:
        Variables: {{PLAIN: "1", MADE: {{"Fn::Sub": "x"}}}}
  EngineLayer:
    Type: AWS::Serverless::LayerVersion
    Properties: {{ContentUri: EngineLayer}}
"""


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A built package of one function and two layers, for x86_64."""
    folder = tmp_path / "build"
    for path in (f"{FUNCTION}/tool/app.py", "EngineLayer/python/engine.py", "KnowledgeLayer/python/knowledge.py"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("x = 1\n", encoding="utf-8")
    (folder / "template.yaml").write_text(TEMPLATE, encoding="utf-8")
    noted = {
        "architecture": "x86_64",
        "downloaded": {"big": 9_000_000, "a": 5, "b": 6},
        "shipped": {"big": 2_000_000, "a": 3},
    }
    (folder / "EngineLayer/engine-build.json").write_text(json.dumps(noted), encoding="utf-8")
    manifest = {"bytes_of": {"big.so": 7_000_000}}
    (folder / "EngineLayer/python/native_loader.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder
