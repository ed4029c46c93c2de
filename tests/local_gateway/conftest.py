from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from local_gateway.events import PAYLOADS, Payload
from local_gateway.front import Front
from tests.support.calls import switched_on
from tests.support.datasets import SUPPORT, build
from tests.support.local_front import ANA


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dataset with two documents."""
    texts = {
        "handbook/urlaub.md": "# Urlaub beantragen\n\nAnträge gehen an die Leitung.\n",
        "handbook/sick-days.md": "# Calling in sick\n\nIf you are feverish, inform your manager.\n",
    }
    return build(str(tmp_path_factory.mktemp("gateway") / "dataset"), {(SUPPORT, "handbook"): texts}).uri


@pytest.fixture(scope="module", params=PAYLOADS)
def front(request: pytest.FixtureRequest, dataset: str) -> Iterator[Front]:
    payload: Payload = request.param
    with switched_on(dataset) as handler, Front(handler, ANA, payload=payload) as made:
        serving = threading.Thread(target=made.serve_forever, args=(0.05,))
        serving.start()
        yield made
        made.shutdown()
        serving.join()
