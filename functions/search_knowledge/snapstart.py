"""Hooks around a SnapStart snapshot, for which Lambda's Python run time brings a library of its own."""

from __future__ import annotations

import gc
from collections.abc import Callable


def around_snapshots(*, before: Callable[[], None], after: Callable[[], None]) -> bool:
    """Have both called around a snapshot; false where there is no such thing, as on a developer's machine."""
    try:
        from snapshot_restore_py import (  # noqa: PLC0415 - only Lambda's run time has it
            register_after_restore,
            register_before_snapshot,
        )
    except ImportError:
        return False
    register_before_snapshot(before)
    register_after_restore(after)
    return True


def settle_memory() -> None:
    """Take what init has made out of the garbage collector's rounds: it stays, and going through it costs each call."""
    gc.collect()
    gc.freeze()
