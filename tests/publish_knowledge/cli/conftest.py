from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.embedding.providers import LOCAL_SMALL
from tests.support.command import TEXTS, Workspace


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def workspace(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The environment names dataset, model and cache, so that the tests' command lines stay short."""
    uri = str(tmp_path / "dataset")
    for name, value in {"LANCEDB_URI": uri, "EMBEDDING": LOCAL_SMALL, "KNOWLEDGE_CACHE_DIR": str(cache)}.items():
        monkeypatch.setenv(name, value)
    created = Workspace(tmp_path / "docs", uri)
    created.folder.mkdir()
    for path, text in TEXTS.items():
        (created.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (created.folder / path).write_text(text)
    return created


@pytest.fixture
def published(workspace: Workspace) -> Workspace:
    workspace.publish()
    return workspace
