from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.datasets import ANA, FIELD, SUPPORT, build
from tests.support.issuer import Issuer


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dataset with one item for an owner and for each of two teams."""
    content = {
        (ANA, "notes"): {"filter.md": "# Filter\n\nAna changed the filter on Monday.\n"},
        (SUPPORT, "manual"): {"filter.md": "# Filter\n\nSupport changes the filter every year.\n"},
        (FIELD, "manual"): {"filter.md": "# Filter\n\nThe field team carries a spare filter.\n"},
    }
    return build(str(tmp_path_factory.mktemp("dataset")), content).uri


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running
