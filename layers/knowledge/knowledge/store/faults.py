"""Exceptions of the storage library, mapped in this one place.

LanceDB raises `ValueError`, `RuntimeError` and `OSError` for the same kinds of fault, so only the text of two
answers can be told apart from an outage: a table that is not there, and files of a version that was cleaned away.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from knowledge.errors import KnowledgeError, StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MISSING_TABLE: Final = re.compile(r"^Table '[^']*' was not found")
_MISSING_FILE: Final = re.compile(r"not found", re.IGNORECASE)
# A bucket that is gone also says "not found"; it is an outage, and reading again would not help.
_MISSING_STORE: Final = re.compile(r"NoSuchBucket|bucket", re.IGNORECASE)


class MissingTableError(Exception):
    """The store answered, and the table is not in it."""


class StaleVersionError(StorageUnavailableError):
    """The version being read was cleaned away; a fresh snapshot may succeed."""


@contextmanager
def storage_faults() -> Iterator[None]:
    """Turn whatever the storage library raises into one of this module's errors or `StorageUnavailableError`."""
    try:
        yield
    except KnowledgeError:
        raise
    except Exception as error:
        raise _translated(error) from error


def _translated(error: Exception) -> Exception:
    text = str(error)
    if isinstance(error, ValueError) and _MISSING_TABLE.match(text):
        return MissingTableError(text)
    if _MISSING_FILE.search(text) and not _MISSING_STORE.search(text):
        return StaleVersionError()
    return StorageUnavailableError()
