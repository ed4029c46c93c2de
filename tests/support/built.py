"""The template of a built package."""

from __future__ import annotations

from typing import Final

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
