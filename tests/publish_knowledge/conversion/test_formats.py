"""Formats are known by the extension of the file's name."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.formats import FORMATS, Format, find_format


@pytest.mark.parametrize("path", ["a/b.html", "B.HTM", "c.d.docx"])
def test_the_extension_decides_in_either_case(path: str) -> None:
    assert find_format(path) is not None


@pytest.mark.parametrize("path", ["a.md", "html", "a.html.zip"])
def test_other_files_are_not_converted(path: str) -> None:
    assert find_format(path) is None


@pytest.mark.parametrize("extension", sorted(FORMATS))
def test_every_format_loads(extension: str) -> None:
    assert callable(FORMATS[extension].load())


def test_a_format_without_its_library_is_not_available() -> None:
    assert not Format("Made up", "html", ("a_library_that_is_not_there",)).is_available
