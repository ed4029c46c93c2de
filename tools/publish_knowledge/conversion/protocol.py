"""What every converter does: bytes in, Markdown out, or one sentence that says why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class ConversionError(Exception):
    """A document that cannot be converted; the message says what is wrong and how to correct it."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as Markdown, with the title and the language that it declares, "" where it declares none."""

    text: str
    title: str = ""
    language: str = ""


Converter = Callable[[bytes], Converted]
"""Converts the bytes of one document; raises `ConversionError`."""
