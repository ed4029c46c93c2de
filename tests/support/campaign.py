"""Choose how often a behaviour test tries: an excerpt in ordinary runs, the full number in `make campaign`."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "CAMPAIGN"


def choose_trials(excerpt: int, full: int) -> int:
    """Return the excerpt, or the full number where the environment has `CAMPAIGN`."""
    return full if os.environ.get(VARIABLE) else excerpt
