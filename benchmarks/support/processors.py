"""Control which processors a measurement may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pin_to_one_processor() -> Iterator[None]:
    """Pin this process, and those started in the block, to one processor, which a function of 1,769 MB has."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
