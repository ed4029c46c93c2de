from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from knowledge.embedding.providers import LOCAL
from local_gateway.events import Developer
from local_gateway.sample import EXAMPLES
from publish_knowledge.cli.main import knowledge
from search_knowledge.app import Handler
from tests.support.calls import switched_on

ANA = Developer("ana", ("support",))


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands of the documentation use, as in a fresh clone, and a cache of vectors."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(EXAMPLES, folder / "examples")
    return folder


@pytest.fixture(scope="session")
def handler(clone: Path) -> Iterator[Handler]:
    """The function over the handbook of the sample base, published by the command."""
    uri = str(clone / "served")
    command = ("publish", str(clone / "examples/knowledge/team-support/handbook"), "--team", "support")
    options = ("--base", "handbook", "--uri", uri)
    result = CliRunner(env={"KNOWLEDGE_CACHE_DIR": str(clone / "cache")}).invoke(knowledge, [*command, *options])
    assert result.exit_code == 0, result.output
    with switched_on(uri, embedding=LOCAL) as made:
        yield made
