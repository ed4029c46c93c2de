"""What counts as text. Standard library only: the authorizer has a copy of this module."""

from __future__ import annotations


def is_unicode(text: str) -> bool:
    """Whether the text can be written as UTF-8; JSON escapes can contain lone surrogates, which cannot."""
    try:
        # Far faster than a look at each character, and an id may have a million.
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
