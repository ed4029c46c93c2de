"""Read from the built template what `sam build` made: functions, their layers and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

FUNCTION: Final = "SearchKnowledgeFunction"
ENGINE: Final = "EngineLayer"


class ArtifactError(RuntimeError):
    """The built artifact is missing or unusable; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Function:
    """A built function: its folder, its layers' folders in the order in which Lambda merges them, its handler."""

    name: str
    folder: Path
    layers: tuple[Path, ...]
    handler: str
    environment: Mapping[str, str]
    """The settings that the template gives as plain text."""


def read_functions(build: Path) -> tuple[Function, ...]:
    """Return all functions in the output folder of `sam build`; raises `ArtifactError` where there is no template."""
    template = build / "template.yaml"
    if not template.is_file():
        raise ArtifactError(f"{template} is missing: run `make build`")
    resources = yaml.safe_load(template.read_text(encoding="utf-8"))["Resources"]
    return tuple(
        _parse_function(build, name, resource["Properties"])
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Serverless::Function"
    )


def find_function(build: Path, name: str = FUNCTION) -> Function:
    """Return the function of that name; raises `ArtifactError`."""
    for one in read_functions(build):
        if one.name == name:
            return one
    raise ArtifactError(f"the template in {build} has no function {name}")


def _parse_function(build: Path, name: str, properties: Mapping[str, Any]) -> Function:
    layers = (layer["Ref"] for layer in properties.get("Layers", ()) if "Ref" in layer)
    settings = properties.get("Environment", {}).get("Variables", {})
    return Function(
        name=name,
        folder=build / properties["CodeUri"],
        layers=tuple(build / layer for layer in layers),
        handler=properties["Handler"],
        environment={key: value for key, value in settings.items() if isinstance(value, str)},
    )
