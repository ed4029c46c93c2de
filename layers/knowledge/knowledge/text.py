"""What counts as text. Standard library only: the authorizer carries a copy of this module."""

from __future__ import annotations


def is_unicode(text: str) -> bool:
    """Whether the text can be written as UTF-8; JSON escapes can smuggle in lone surrogates, which cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
