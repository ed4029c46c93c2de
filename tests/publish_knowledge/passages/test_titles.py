"""Titles from first-level headings, and from the names of files."""

from __future__ import annotations

import time

import pytest

from publish_knowledge.passages.titles import derive_title, find_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Refunds\n\nText.", "Refunds"),
        ("\n\nRefunds\n=======\n\nText.", "Refunds"),
        ("#\n\n# Second try\n", "Second try"),
        ("<h1>Hello</h1>\n\nText.", "Hello"),
        ('<h1 align="center">\n  <img src="logo.png"> Hello &amp; <b>more</b>\n</h1>\n\nText.', "Hello & more"),
        ('<div align="center">\n<h1 id="x">Hello</h1>\n</div>\n\nText.', "Hello"),
        ('<h1><img src="logo.png"></h1>\n\n# Hello\n', "Hello"),
        ("<!-- licence: MIT -->\n\n# Hello\n", "Hello"),
        ("{/* lint ignore */}\n\n# Hello\n", "Hello"),
        ("import Tabs from '@theme/Tabs'\nexport const a = 1\n\n# Hello\n", "Hello"),
        ('<p align="center">\n  <img src="logo.png" alt="Our logo">\n</p>\n\n# Hello\n', "Hello"),
        ("[![Build](https://x.test/a.svg)](https://x.test) ![Cover](b.svg)\n\n# Hello\n", "Hello"),
        ("[English](README.md) | [Deutsch](README.de.md)\n\n# Hello\n", "Hello"),
        ("[docs]: https://docs.test/\n\n# Hello\n", "Hello"),
        ("{{< toc >}}\n\n{% include nav.html %}\n\n# Hello\n", "Hello"),
        ("## New\n\nText.\n", ""),
        ("## New\n\n# Title below\n", ""),
        ("An introduction.\n\n# Not its title\n", ""),
        ("- a list\n\n# Not its title\n", ""),
        ("```\ncode\n```\n\n# Not its title\n", ""),
        ("<h2>Second level</h2>\n\nText.", ""),
        ("No heading.\n", ""),
        ("<!-- x -->\n\n" * 5_000 + "# Far down\n", ""),
        ("", ""),
    ],
)
def test_a_first_level_heading_before_other_text_is_the_title(text: str, title: str) -> None:
    assert find_title(text) == title


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("guide/how-to-reset.md", "How to reset"),
        ("guide/how_to_reset.md", "How to reset"),
        ("releases/v2.3.1.md", "v2.3.1"),
        ("notes/2024-05-01-meeting.md", "2024-05-01-meeting"),
        ("api/useState.md", "useState"),
        ("rfcs/0042-new-parser.md", "0042-new-parser"),
        ("docs/billing/index.md", "Billing"),
        ("docs/billing-api/README.md", "Billing api"),
        ("docs/v1.2/_index.md", "v1.2"),
        ("README.md", "README"),
        ("index.md", "Index"),
        ("über-uns.md", "Über uns"),
        ("休暇.md", "休暇"),
        ("__init__.md", "__init__"),
        ("-.md", "-"),
    ],
)
def test_without_one_it_is_the_name_of_the_file_made_readable(path: str, title: str) -> None:
    assert derive_title(path) == title


@pytest.mark.parametrize("unit", ["[![", "[", "![a](", "<a ", "{{", "{%", "<!--", "{/*", "[a]: ", "import "])
def test_unclosed_markup_takes_time_in_proportion(unit: str) -> None:
    text = (unit * 10_000)[:9_990] + "\n\n# T\n"
    started = time.process_time()
    find_title(text * 5)
    assert time.process_time() - started < 2
