"""Errors of single files, which are never a reason to leave out the rest of a batch."""

from __future__ import annotations

from dataclasses import dataclass


class UnusableFileError(Exception):
    """A file that cannot be published; the message says what is wrong and how to correct it."""


class RootError(ValueError):
    """The given paths are not below the given root, or have no folder in common."""


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that was left out: its path, as the user would name it, and the reason."""

    path: str
    reason: str

    def as_dict(self) -> dict[str, str]:
        """JSON form."""
        return {"path": self.path, "reason": self.reason}
