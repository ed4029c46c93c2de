"""Built functions, read from the built template."""

from __future__ import annotations

from pathlib import Path

import pytest

from lambda_emulator.artifact import FUNCTION, ArtifactError, find_function, read_functions


def test_a_built_template_gives_the_function_s_parts(build: Path) -> None:
    found = find_function(build)
    assert found.folder == build / FUNCTION
    assert [layer.name for layer in found.layers] == ["EngineLayer", "KnowledgeLayer"]
    assert (found.handler, found.environment) == ("tool.app.handler", {"PLAIN": "1"})


def test_a_missing_build_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="run `make build`"):
        read_functions(tmp_path)


def test_another_function_s_name_is_reported(build: Path) -> None:
    with pytest.raises(ArtifactError, match="has no function Other"):
        find_function(build, "Other")
