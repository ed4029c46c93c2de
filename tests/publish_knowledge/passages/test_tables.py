"""The header row of a table for each of its passages: which lines are tables, and how long a header may be."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from publish_knowledge.passages.indexed_text import list_embedded_texts
from publish_knowledge.passages.splitting import split_text
from publish_knowledge.passages.tables import HEADER_BYTES, find_tables, list_headers

ROWS = [f"| X{n:03} | {n * 7} hours | {n}.50 EUR |" for n in range(60)]
PLAIN = [row.strip("| ") for row in ROWS]
HEADER = "Model | Battery | Price"
HTML = [f"<tr><td>X{n:03}</td><td>{n * 7} hours</td><td>{n}.50 EUR</td></tr>" for n in range(60)]
TABLES = {
    "with pipes": "\n".join([f"| {HEADER} |", "|---|:-:|--:|", *ROWS]),
    "without outer pipes": "\n".join([HEADER, "--- | --- | ---", *PLAIN]),
    "with CRLF": "\r\n".join([f"| {HEADER} |", "| --- | --- | --- |", *ROWS]),
    "in a list": "- Devices:\n\n" + "\n".join(f"  {row}" for row in [f"| {HEADER} |", "|---|---|---|", *ROWS]),
    "in a quotation": "\n".join(f"> {row}" for row in [f"| {HEADER} |", "|---|---|---|", *ROWS]),
    "of Org": "\n".join([f"| {HEADER} |", "|---+---+---|", *ROWS]),
    "as a grid": "\n".join(["+---+---+---+", f"| {HEADER} |", "+===+===+===+", *ROWS, "+---+---+---+"]),
    "of HTML": "\n".join(["<table>", f"<tr><th>{HEADER.replace(' | ', '</th><th>')}</th></tr>", *HTML, "</table>"]),
    "of HTML with a head": "<table>\n<thead>\n<tr>\n<th>Model</th>\n<th>Battery</th>\n<th><b>Price</b></th>\n</tr>\n"
    "</thead>\n<tbody>\n" + "\n".join(HTML) + "\n</tbody>\n</table>",
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_passage_of_a_table_has_its_header_row(kind: str) -> None:
    passages = split_text(f"# Devices\n\nAll of them.\n\n{TABLES[kind]}\n\nThe end of it.\n", "markdown")
    headers = list_headers(passages)
    assert headers[0] == ""
    assert len(passages) > 3
    embedded = list_embedded_texts("Devices", passages)
    for passage, header, text in zip(passages, headers, embedded, strict=True):
        if "X0" in passage.text:
            assert header == (HEADER if "Model" not in passage.text else "")
            assert text is not None
            assert all(name in text for name in HEADER.split(" | "))


def test_each_of_several_tables_has_its_own_header() -> None:
    second = "\n".join(["| City | Office |", "|---|---|", *(f"| City {n} | Street {n} |" for n in range(60))])
    passages = split_text(f"{TABLES['with pipes']}\n\n{second}\n\nDone.\n", "markdown")
    for passage, header in zip(passages, list_headers(passages), strict=True):
        if "| City " in passage.text and not passage.text.startswith("| City |"):
            assert header == "City | Office"
        elif "Model" not in passage.text and passage.text.startswith("| X"):
            assert header == HEADER


def test_a_row_that_is_longer_than_a_passage_keeps_its_header() -> None:
    long = "Charge it only indoors and with the adapter that came with it. " * 40
    text = f"| Model | Instructions |\n|---|---|\n| X001 | {long} |\n| X002 | {long} |\n"
    passages = split_text(text, "markdown")
    assert list_headers(passages)[1:] == ["Model | Instructions"] * (len(passages) - 1)
    assert "".join(passage.text for passage in passages) == text


@pytest.mark.parametrize("word", ["Zeit", "測定値", "ค่าที่วัดได้"])
def test_a_very_long_header_is_cut_between_words(word: str) -> None:
    header = " | ".join(f"{word} {n}" for n in range(300))
    text = f"| {header} |\n|{'---|' * 300}\n" + "\n".join(f"| {'1 | ' * 300}" for _ in range(3))
    passages = split_text(text, "markdown")
    (found,) = set(list_headers(passages)[1:])
    assert 0.8 * HEADER_BYTES < len(found.encode()) <= HEADER_BYTES
    assert header.startswith(found)
    assert all(before.end == after.start for before, after in pairwise(passages))


@pytest.mark.parametrize(
    "text",
    [
        "```\nname,price\nX1,2\nX2,3\n```\n",
        "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n",
        "~~~text\n| a | b |\n|---|---|\n~~~\n",
        "A heading\n---------\n\nText.\n",
        "Use a | b here.\n\n---\n",
        "| only | one | row |\n",
        "|---|---|\n| no | header |\n",
        "<table><tr><td>never closed",
        "<table>" * 1_000,
        "a\n- - -\n",
        "",
    ],
)
def test_what_is_no_table_has_no_header(text: str) -> None:
    assert find_tables(text) == []
    assert set(list_headers(split_text(text, "markdown"))) == {""}


def test_a_table_ends_where_its_rows_end() -> None:
    text = f"{TABLES['with pipes']}\n\n" + "Something else is said here. " * 60
    (table,) = find_tables(text)
    assert text[table.end :].startswith("\nSomething else")
    assert list_headers(split_text(text, "markdown"))[-1] == ""


@pytest.mark.parametrize("part", ["|-|\n", "a|b\n-|-\n", "<table>", "<table><tr></table>", "```\n", "-|", "\r"])
def test_the_time_to_find_tables_is_linear_in_the_text(part: str) -> None:
    def measure(chars: int) -> float:
        start = time.thread_time()
        find_tables(part * (chars // len(part)))
        return time.thread_time() - start

    measure(10_000)
    # Eight times the text may take 64 times the time where it is quadratic.
    assert measure(400_000) < 24 * max(measure(50_000), 0.002)
