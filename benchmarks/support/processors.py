"""Which of the machine's processors a measurement has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_processor() -> Iterator[None]:
    """This process, and what it starts meanwhile, have one processor, as a function of 1,769 MB has."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
