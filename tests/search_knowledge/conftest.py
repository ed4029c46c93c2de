from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest

from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from tests.support.calls import (
    logger,
    switched_on,
)
from tests.support.datasets import ANA as OWNER
from tests.support.datasets import build, embedding
from tests.support.records import CANARY


@pytest.fixture(scope="module")
def handler() -> Iterator[Handler]:
    with switched_on() as made:
        yield made


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("records")
    return build(str(folder / "data"), {(OWNER, "notes"): {"pump.md": f"Open the valve of the {CANARY} pump."}}).uri


@pytest.fixture
def log() -> StringIO:
    return StringIO()


@pytest.fixture
def metered(uri: str, log: StringIO) -> Iterator[Handler]:
    settings = Settings(uri=uri, embedding="local-small", runtime_switch="on", metrics_namespace="test-stack")
    with Handler(settings, logger(log), embedding()) as made:
        yield made
