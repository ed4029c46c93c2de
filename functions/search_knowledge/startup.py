"""How the function starts: what goes on beside its imports, and hooks around a SnapStart snapshot.

It imports nothing by itself that takes time, as it comes before everything else.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Final

LAMBDA_MARK: Final = "AWS_LAMBDA_RUNTIME_API"
"""The environment variable that Lambda's run time alone has."""


def begin_loading() -> None:
    """Let the engine unpack beside the imports, and no garbage be looked for until `freeze_memory`."""
    gc.disable()
    with suppress(ImportError):  # only the engine layer has it
        import native_loader  # noqa: PLC0415 - as above

        native_loader.start_unpacking()


def around_snapshots(*, before: Callable[[], None], after: Callable[[], None]) -> bool:
    """Have both called around a snapshot; false where there is no such thing, as on a developer's machine.

    Lambda's Python run time brings a library of its own for it.
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
    """Take what init has made out of the garbage collector's rounds: it stays, and going through it costs each call."""
    gc.collect()
    gc.freeze()
    gc.enable()
