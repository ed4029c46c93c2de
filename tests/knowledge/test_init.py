"""The public names, and that importing the package loads nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest

import knowledge
from knowledge import errors, service

_LOADED: Final = """\
import json, sys
before = set(sys.modules)
{work}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded_by(work: str) -> list[str]:
    """Modules that some code loads in a fresh process."""
    command = [sys.executable, "-c", _LOADED.format(work=work)]
    loaded: list[str] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return loaded


def own_errors(base: type[Exception]) -> Iterator[str]:
    for error in base.__subclasses__():
        if error.__module__ == errors.__name__:
            yield error.__name__
        yield from own_errors(error)


def test_importing_the_package_loads_none_of_its_modules_and_no_library() -> None:
    loaded = loaded_by("import knowledge")
    assert "knowledge" in loaded
    assert [name for name in loaded if name.startswith("knowledge.")] == []
    assert {"numpy", "lancedb", "pyarrow", "boto3"}.isdisjoint(loaded)


def test_using_a_name_loads_its_module_alone() -> None:
    loaded = loaded_by("from knowledge import Scope")
    assert [name for name in loaded if name.startswith("knowledge.")] == ["knowledge.errors", "knowledge.scopes"]


@pytest.mark.parametrize("name", knowledge.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(knowledge, name).__name__ == name
    assert name in dir(knowledge)


def test_every_failure_is_public() -> None:
    assert {"KnowledgeError", *own_errors(errors.KnowledgeError)} <= set(knowledge.__all__)


def test_a_public_name_is_the_module_s_own() -> None:
    assert knowledge.KnowledgeService is service.KnowledgeService


def test_other_names_are_missing_as_usual() -> None:
    with pytest.raises(AttributeError, match="module 'knowledge' has no attribute 'Missing'"):
        knowledge.Missing  # noqa: B018 - looking it up is the test
    assert not hasattr(knowledge, "_missing")
