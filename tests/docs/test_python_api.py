"""The code of the Python API's page runs as it stands, in its order."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import code_spans, page

PYTHON = page("docs/python.md")
MODULES = {
    "PublishOptions": "publish_knowledge.publishing.options",
    "VectorCache": "publish_knowledge.embedding.cache",
    "select_passage_provider": "publish_knowledge.embedding.fast_e5.provider",
    "storage_options_from": "knowledge.store.options",
    "EmbeddingError": "publish_knowledge.embedding.embedder",
}


@pytest.fixture(scope="module")
def namespace(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is defined after all code blocks, run in a folder with the examples."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "examples").symlink_to(clone / "examples")
    defined: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in PYTHON.blocks("python"):
            exec(block, defined)  # noqa: S102 - the documentation's own code
    return defined


def test_a_folder_is_published(namespace: dict[str, Any]) -> None:
    outcomes = namespace["report"].outcomes
    assert len(outcomes) > 10
    assert {outcome.action for outcome in outcomes} == {"created"}


def test_the_published_item_is_found_and_read(namespace: dict[str, Any]) -> None:
    assert namespace["answer"].hits[0].revision.source_uri == "handbook/urlaub.md"
    assert "Urlaub beantragen" in namespace["window"].content


def test_the_dataset_is_sound(namespace: dict[str, Any]) -> None:
    assert len(namespace["tables"]) == 2
    assert namespace["findings"] == ()


def test_every_name_in_the_text_exists(namespace: dict[str, Any]) -> None:
    for name, module in MODULES.items():
        assert name in PYTHON.prose
        assert hasattr(import_module(module), name)
    packages = {span for span in code_spans(PYTHON.prose) if re.fullmatch(r"(publish_)?knowledge(\.\w+)*", span)}
    assert all(import_module(package) for package in packages)
    assert {"Dataset", "Store", "KnowledgeService", "KnowledgeError", "Embedder"} <= namespace.keys()
