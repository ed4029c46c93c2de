from __future__ import annotations

from dataclasses import dataclass

import pytest

from knowledge.embedding.providers import LOCAL
from local_gateway import demo
from local_gateway.sample import Sample


@dataclass(frozen=True, slots=True)
class DemoRun:
    """The demonstration's exit code, its output, and its dataset."""

    code: int
    printed: str
    sample: Sample


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> DemoRun:
    """The demonstration, run once; its dataset serves all tests that read the sample base."""
    folder = tmp_path_factory.mktemp("demo")
    sample = Sample(str(folder / "dataset"), LOCAL)
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        # A cache that an earlier run filled would hide faults of the embedding.
        patch.setenv("KNOWLEDGE_CACHE_DIR", str(folder / "cache"))
        code = demo.main(["--uri", sample.uri], report=lines.append)
    return DemoRun(code, "\n".join(lines), sample)


@pytest.fixture(scope="session")
def sample(demo_run: DemoRun) -> Sample:
    """The published sample base."""
    assert demo_run.code == 0, demo_run.printed
    return demo_run.sample
