"""How the function starts: what runs in parallel with its imports, and hooks around a SnapStart snapshot.

The module is imported first, so it imports nothing that takes time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Final

LAMBDA_MARK: Final = "AWS_LAMBDA_RUNTIME_API"
"""An environment variable that only Lambda's run time sets."""


def begin_loading() -> None:
    """Start to unpack the engine in parallel with the imports, and stop garbage collection until `freeze_memory`."""
    gc.disable()
    with suppress(ImportError):  # only the engine layer has it
        import native_loader  # noqa: PLC0415 - as above

        native_loader.start_unpacking()


def around_snapshots(*, before: Callable[[], None], after: Callable[[], None]) -> bool:
    """Register both to be called around a snapshot; false where there are no snapshots, as on a developer's machine.

    Lambda's Python run time includes a library for it.
    """
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


def freeze_memory() -> None:
    """Exclude what init has created from garbage collection: it is permanent, and scanning it would cost every call."""
    gc.collect()
    gc.freeze()
    gc.enable()
