"""Fixtures for all tests, and the order of the files."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import HealthCheck, settings

# The first example on a new machine builds a table of all characters, and on a busy machine examples wait: neither is a
# fault of what is tested.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

pytest_plugins = ["tests.support.bedrock", "tests.support.s3", "tests.support.tracing"]

LONGEST: Final = (
    "behaviour/test_kills.py",
    "behaviour/test_isolation.py",
    "behaviour/test_races.py",
    "behaviour/test_faults.py",
    "behaviour/test_sample_base.py",
    "publish_knowledge/cli/test_evaluate.py",
)
"""Files that take a minute or more. They go first, so that none of them runs last, on one worker alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the others stay in their order."""
    items.sort(key=lambda item: next((at for at, end in enumerate(LONGEST) if item.path.match(end)), len(LONGEST)))
