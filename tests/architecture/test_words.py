"""The tracked files speak of the product alone: no path of one machine, no package index's host."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tests.architecture.source import tracked_texts

UNWANTED: Final = {
    "a path of one machine": re.compile(r"(?<![\w.>*~-])/(?:home|root|Users|work)/"),
    "a package index's host": re.compile(r"\b(?:crates|npmjs|pypi|pypi-more|pythonhosted)\.(?:com|io|org)\b"),
}


def unwanted_words(files: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{path}:{number} has {what}"
        for path, text in files
        for number, line in enumerate(text.splitlines(), start=1)
        for what, pattern in UNWANTED.items()
        if pattern.search(line)
    ]


def test_no_file_names_a_machine_or_a_package_index() -> None:
    assert unwanted_words(tracked_texts()) == []


def test_unwanted_words_are_caught() -> None:
    # Made here from harmless text, so that this file itself stays clean.
    path = "see |work|notes.md".replace("|", "/")
    host = "https://files.pythonhosted|org".replace("|", ".")
    assert unwanted_words([("a.md", f"fine\n{path}"), ("b.txt", host), ("c.md", "docs/work/plan.md")]) == [
        "a.md:2 has a path of one machine",
        "b.txt:1 has a package index's host",
    ]
