"""reStructuredText becomes Markdown, and nothing in it is executed."""

from __future__ import annotations

import pytest

from publish_knowledge.conversion.protocol import ConversionError
from publish_knowledge.conversion.rest import convert
from tests.support.conversions import convert_file, read_handbook, tighten_lists


def test_a_text_of_pandoc_becomes_the_handbook() -> None:
    text = convert_file("pandoc.rst").text
    assert tighten_lists(tighten_lists(text)) == read_handbook().replace("`unlock 42`", "unlock 42")


def test_files_are_not_included_and_raw_html_is_left_out() -> None:
    text = convert(b"Oil\n===\n\n.. include:: /etc/passwd\n\n.. raw:: html\n\n   <p>raw</p>\n\nOften.\n").text
    assert text == "# Oil\n\nOften.\n"


def test_what_only_sphinx_knows_leaves_the_rest() -> None:
    text = convert(b"Oil\n===\n\n.. toctree::\n\n   other\n\nSee :ref:`chain`. Often.\n").text
    assert text.startswith("# Oil\n")
    assert text.endswith("Often.\n")


@pytest.mark.parametrize(("data", "reason"), [(b"na\xefve", "not valid UTF-8"), (b"\n", "It is empty")])
def test_what_is_no_text_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(data)
