"""How often a behaviour test tries: an excerpt in each run, the full number in `make campaign`."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "CAMPAIGN"


def trials(excerpt: int, full: int) -> int:
    """The excerpt, or the full number where the variable is set."""
    return full if os.environ.get(VARIABLE) else excerpt
