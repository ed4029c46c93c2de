"""From a text to its passages: exact slices that tile it, none longer than the schema allows."""

from __future__ import annotations

from dataclasses import dataclass

from publish_knowledge.documents import Document, TextKind


@dataclass(frozen=True, slots=True)
class Passage:
    """`text[start:end]` in code points; `heading` is the heading path in force there, as "Install > Linux"."""

    start: int
    end: int
    heading: str
    ordinal: int


def split(text: str, kind: TextKind) -> tuple[Passage, ...]:
    """Passages in order, tiling [0, len(text)); an empty text has one empty passage."""
    raise NotImplementedError


def embedded_text(document: Document, passage: Passage) -> str:
    """What a passage's vector is made from: title, heading path and text."""
    raise NotImplementedError


def indexed_terms(document: Document, passage: Passage) -> str:
    """What the full-text index covers: the terms of title, heading path and text, joined by blanks."""
    raise NotImplementedError
