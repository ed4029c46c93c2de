"""What is embedded and what is indexed for a passage: its text under its title and heading path."""

from __future__ import annotations

from knowledge.search.analysis import analyze_text
from publish_knowledge.passages import compounds
from publish_knowledge.passages.splitting import SEPARATOR, Passage


def build_embedded_text(title: str, passage: Passage) -> str:
    """What a passage's vector is computed from: title and heading path on one line, then its text."""
    return f"{join_headings(title, passage.heading)}\n{passage.text}"


def build_indexed_terms(title: str, language: str, passage: Passage) -> str:
    """What the full-text index covers: the terms of title, heading path and text, joined by spaces."""
    text = build_embedded_text(title, passage)
    if language == compounds.LANGUAGE:
        return " ".join(analyze_text(text, language, compounds.split_compound))
    return " ".join(analyze_text(text, language))


def join_headings(title: str, heading: str) -> str:
    """Title and heading path as one path; the title is not repeated where it is the first heading, as it mostly is."""
    if not heading or heading == title or heading.startswith(title + SEPARATOR):
        return heading or title
    return f"{title}{SEPARATOR}{heading}"
