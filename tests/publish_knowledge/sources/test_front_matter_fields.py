"""Fields of a block in YAML or TOML, strictly and line by line."""

from __future__ import annotations

import pytest

from publish_knowledge.sources.front_matter_fields import Fields, UnclearFieldsError, parse_fields, read_lines


def test_toml_values_are_texts() -> None:
    block = "title = 'T'\nid = 7\ndraft = true\ndate = 2026-01-02\ntags = ['a']\n[params]\ntitle = 'nested'\n"
    texts = {"title": "T", "id": "7", "draft": "true", "date": "2026-01-02"}
    reason = "must be one text, not a list or a mapping"
    assert parse_fields(block, "toml") == Fields(texts, {"tags": reason, "params": reason})


def test_a_sentence_is_no_field_and_a_list_is_unclear() -> None:
    assert parse_fields("A sentence.\n", "yaml") is None
    with pytest.raises(UnclearFieldsError, match="is a list"):
        parse_fields("- a\n", "yaml")
    with pytest.raises(UnclearFieldsError, match="does not parse as TOML"):
        parse_fields("a sentence\n", "toml")


def test_lines_give_the_values_that_need_no_parser() -> None:
    block = "title: 'a: b' # note\nid: 7 # note\nlang: [en]\nstatus:\n  nested: x\n  draft: true\nother: y\n"
    found = read_lines(block)
    assert found.texts == {"title": "a: b", "id": "7"}
    assert set(found.unclear) == {"lang", "status"}
