"""The words of paths: what a file is asked for by."""

from __future__ import annotations

import pytest

from knowledge.search.analysis import analyze_query
from publish_knowledge.passages.indexed_text import list_indexed_terms
from publish_knowledge.passages.path_words import PATH_WORDS, is_digest, split_path
from publish_knowledge.passages.splitting import Passage

DIGEST = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("adr/ADR-0007-postgres.md", "postgres"),
        ("adr/ADR-0007-postgres.md", "ADR-0007"),
        ("adr/ADR-0007-postgres.md", "ADR 7"),
        ("adr/ADR-0007-postgres.md", "adr-7"),
        ("projects/apollo/contacts.md", "apollo contact"),
        ("projects/apollo/contacts.md", "project"),
        ("notes/2024-05-01-standup.md", "2024-05-01"),
        ("notes/2024-05-01_standup.md", "standup"),
        ("src/MyServiceConfig.mdx", "service config"),
        ("releases/release-1.2.3.md", "1.2.3"),
        ("Sitzungen/Protokoll Übergabe.txt", "ubergabe"),
        ("docs/設計書.md", "設計書"),
        (f"Projects/Apollo {DIGEST}.md", DIGEST),
        (f"Projects/Apollo {DIGEST}.md", "Apollo"),
    ],
)
def test_an_item_is_found_by_the_words_of_its_path(path: str, query: str) -> None:
    (terms,) = list_indexed_terms(2, "Title", "es", path, [Passage(0, 0, 5, "", "Text.")])
    assert terms is not None
    assert all(set(terms.split()).intersection(word) for word in analyze_query(query).words)


def test_a_word_that_the_text_has_is_not_counted_twice() -> None:
    passage = Passage(0, 0, 22, "", "Apollo and its people.")
    (terms,) = list_indexed_terms(2, "Contacts", "en", "apollo/contacts.md", [passage])
    assert terms == "contact apollo and it peopl"


def test_a_digest_in_a_name_is_one_term() -> None:
    assert split_path(f"Apollo {DIGEST}.md") == [DIGEST, "Apollo"]
    assert is_digest(DIGEST)
    assert not is_digest("deadbeefdeadbeef")
    (terms,) = list_indexed_terms(2, "", "en", f"{DIGEST}.md", [Passage(0, 0, 1, "", ".")])
    assert terms == DIGEST


def test_the_extension_is_no_word_and_without_a_path_there_is_none() -> None:
    assert split_path("a/b.tar.md") == ["b.tar", "a"]
    assert split_path("") == []
    assert list_indexed_terms(2, "T", "en", "", [Passage(0, 0, 4, "", "Text")]) == ["t text"]


def test_the_words_of_a_deep_path_are_bounded_and_its_end_counts() -> None:
    words = split_path("/".join(f"folder{n}" for n in range(500)) + "/last name.md")
    assert len(words) == PATH_WORDS
    assert words[:2] == ["last", "name"]
    assert len(split_path("a" * 4_000 + "/b.md")[1]) == 255


def test_the_first_version_has_no_words_of_the_path() -> None:
    assert list_indexed_terms(1, "T", "en", "apollo/contacts.md", [Passage(0, 0, 4, "", "Text")]) == ["t text"]
