from __future__ import annotations

from dataclasses import dataclass

import pytest

from local_gateway import demo
from local_gateway.sample import Sample


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """The demonstration's exit code, what it printed, and the dataset it left."""

    code: int
    printed: str
    sample: Sample


@pytest.fixture(scope="session")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Demonstrated:
    """The demonstration, run once with the small model; its dataset serves all tests that read real data."""
    sample = Sample(str(tmp_path_factory.mktemp("demo") / "dataset"), "local-small")
    lines: list[str] = []
    code = demo.main(["--uri", sample.uri, "--embedding", sample.embedding], say=lines.append)
    return Demonstrated(code, "\n".join(lines), sample)


@pytest.fixture(scope="session")
def sample(demonstrated: Demonstrated) -> Sample:
    """The published sample base."""
    assert demonstrated.code == 0, demonstrated.printed
    return demonstrated.sample
