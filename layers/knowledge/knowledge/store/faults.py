"""Exceptions of the storage library, mapped in this one place.

LanceDB raises `ValueError`, `RuntimeError` and `OSError` for the same kinds of faults, pyarrow its own classes. Two
conditions are not outages, and only their messages tell: a table that does not exist, and files of a version that was
removed.

A damaged file may also make the library panic. Its panics arrive as `pyo3_async_runtimes.RustPanic`, and as
`pyo3_runtime.PanicException`, a `BaseException` because the state that it leaves must not be used again: `Dataset`
replaces what it has opened after every fault.

Everything else passes through, because it is a programming error, not an outage: a retry would not help, and the log
has to show it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from knowledge.errors import KnowledgeError, StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARY_ERRORS: Final = (ValueError, RuntimeError, OSError, pa.ArrowException)
"""What LanceDB and pyarrow raise for faults of the store; `TimeoutError` is an `OSError`."""

_PANICS: Final = {"RustPanic", "PanicException"}
"""Names of the library's panics; neither class can be imported."""

_MISSING_TABLE: Final = re.compile(r"^Table '[^']*' was not found")
_MISSING_FILE: Final = re.compile(r"not found", re.IGNORECASE)
# A missing bucket also says "not found", but is an outage: reading again would not help.
_MISSING_STORE: Final = re.compile(r"NoSuchBucket|bucket", re.IGNORECASE)


class MissingTableError(Exception):
    """The store answered, and the table is not in it."""


class StaleVersionError(StorageUnavailableError):
    """The version being read was removed; a new snapshot may succeed."""


@contextmanager
def storage_faults() -> Iterator[None]:
    """Map what the storage library raises to one of this module's errors or `StorageUnavailableError`."""
    try:
        yield
    except KnowledgeError:
        raise
    except LIBRARY_ERRORS as error:
        raise _translate(error) from error
    except BaseException as error:
        if type(error).__name__ in _PANICS:
            raise StorageUnavailableError from error
        raise


@contextmanager
def damaged_values() -> Iterator[None]:
    """Map what parsing stored values raises to `StorageUnavailableError`: the publisher stores none that it refuses.

    Only for code that parses and does nothing else, because a mistake in that code would look like damage.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageUnavailableError from error


def _translate(error: Exception) -> Exception:
    text = str(error)
    if isinstance(error, ValueError) and _MISSING_TABLE.match(text):
        return MissingTableError(text)
    if _MISSING_FILE.search(text) and not _MISSING_STORE.search(text):
        return StaleVersionError()
    return StorageUnavailableError()
