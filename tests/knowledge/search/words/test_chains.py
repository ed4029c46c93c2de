"""Chains: the runs of pieces by which a part of an identifier is found."""

from __future__ import annotations

import pytest

from knowledge.search.words.chains import (
    find_file_name,
    is_code,
    join,
    join_name,
    list_folders,
    list_names,
    list_runs,
    read_number,
    split_chain,
    split_scheme,
)


@pytest.mark.parametrize(
    ("chain", "term"),
    [
        ("HTTP/2", "http2"),
        ("snake_case", "snakecase"),
        ("snakeCase", "snakecase"),
        ("CVE-2021-45046", "cve2021-45046"),
        ("python:3.11-slim", "python3.11slim"),
        ("17:00", "17:00"),
        ("C++11", "c++11"),
        ("10.20.0.7:80", "10.20.0.7:80"),
        ("2024-01-31T10:00", "2024-01-31-10:00"),
    ],
)
def test_letters_lose_the_signs_between_them_and_numbers_keep_theirs(chain: str, term: str) -> None:
    assert join(split_chain(chain)) == term


@pytest.mark.parametrize(
    ("chain", "found", "missed"),
    [
        ("2.1.1", "2.1", "1.1"),
        ("8:00-17:00", "17:00", "00-17:00"),
        ("process.env.NODE_ENV", "nodeenv", "envnode"),
        ("RULE-A002", "a002", "rulea"),
        ("python3.11", "3.11", "pytho"),
    ],
)
def test_runs_begin_and_end_where_a_part_does(chain: str, found: str, missed: str) -> None:
    runs = [join(run) for run in list_runs(split_chain(chain))]
    assert found in runs
    assert missed not in runs


@pytest.mark.parametrize("chain", ["1.2.3.4.5.6.7.8.9" * 7, "a-1-" * 40 + "b", "A1" * 200, "a_b" * 90])
def test_the_terms_of_a_long_chain_stay_in_proportion(chain: str) -> None:
    runs = [join(run) for run in list_runs(split_chain(chain))]
    assert sum(map(len, runs)) <= 8 * len(chain)


@pytest.mark.parametrize(
    ("number", "readings"),
    [
        ("25,000", ["25000"]),
        ("25.000", ["25000"]),
        ("1,234.56", ["1234.56"]),
        ("1.234,56", ["1234.56"]),
        ("3,5", ["3.5"]),
        ("3.11", []),
        ("1,2,3", []),
        ("2024", []),
    ],
)
def test_a_number_is_read_with_any_separators(number: str, readings: list[str]) -> None:
    assert read_number(number) == readings


@pytest.mark.parametrize(
    "chain", ["A002", "3.11", "NODE_ENV", "nginx.conf", "a/b/c", "me@example.com", "R&D", "std::vector"]
)
def test_codes_are_searched_for_as_a_whole(chain: str) -> None:
    assert is_code(chain, split_chain(chain))


@pytest.mark.parametrize("chain", ["word", "well-known", "max_retries", "setUserName", "and/or", "l'homme", "404"])
def test_names_of_words_are_not_codes(chain: str) -> None:
    assert not is_code(chain, split_chain(chain))


def test_a_file_is_found_by_its_name_with_its_ending() -> None:
    assert join_name(find_file_name(split_chain("src/app/main.py"))) == "main.py"
    assert find_file_name(split_chain("src/app/main")) == []


@pytest.mark.parametrize(
    ("chain", "names"),
    [
        ("docs.example.com/setup", {"docs.example.com", "example.com"}),
        ("jane@mail.co.uk", {"janemail.co.uk", "mail.co.uk", "co.uk"}),
        ("app/src/archive.tar.gz", {"archive.tar.gz", "tar.gz"}),
        ("10.20.0.7/24", set()),
        ("2.3.1", set()),
        ("a/b", set()),
    ],
)
def test_names_with_dots_are_found_inside_a_chain(chain: str, names: set[str]) -> None:
    assert {join_name(name) for name in list_names(split_chain(chain))} == names


def test_a_path_is_found_by_the_folders_it_begins_with() -> None:
    assert [join(folder) for folder in list_folders(split_chain("usr/local/bin/tool"))] == ["usrlocal", "usrlocalbin"]
    assert list(list_folders(split_chain("and/or"))) == []
    assert len(list(list_folders(split_chain("a/" * 30 + "b")))) == 6


@pytest.mark.parametrize(
    ("chain", "parts"),
    [
        ("https://example.com", ("https://", "example.com")),
        ("mailto:jane@example.com", ("mailto:", "jane@example.com")),
        ("std::vector", ("", "std::vector")),
        ("app:1.4", ("", "app:1.4")),
    ],
)
def test_the_scheme_of_an_address_is_split_off(chain: str, parts: tuple[str, str]) -> None:
    assert split_scheme(chain) == parts
