"""Prices of measured calls, and the cost page, which has only generated figures."""

from __future__ import annotations

from typing import Final

import pytest

from benchmarks.cost import prices
from benchmarks.cost.estimate import MARKS, PAGE, SIZES, read_figures, read_memory_megabytes
from benchmarks.cost.prices import FIRST, LISTING, SEARCH, Kind, PriceBook

LISTED: Final = Kind(LISTING, 0, 100, gets=0, lists=0, log_bytes=0)
FOUND: Final = Kind(SEARCH, 1000, 1000, gets=10, lists=2, log_bytes=1300)
FIRST_ONE: Final = Kind(FIRST, 1000, 2000, gets=20, lists=2, log_bytes=1300)


@pytest.fixture
def book() -> PriceBook:
    """The project's own prices and assumptions with made-up measurements."""
    known = prices.parse_price_book(read_figures())
    return PriceBook(known.prices, known.assumptions, known.managed, known.as_of, 3000, (LISTED, FOUND, FIRST_ONE))


def test_the_page_is_what_the_figures_make() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert prices.update_page(text, prices.parse_price_book(read_figures()), read_memory_megabytes(), MARKS) == text


def test_every_size_is_measured_and_priced() -> None:
    known = prices.parse_price_book(read_figures())
    assert known.sizes == list(SIZES)
    assert all(prices.price_mixed(known, size, 1.7) > 0 for size in known.sizes)


def test_the_price_of_a_request_is_the_sum_of_its_parts(book: PriceBook) -> None:
    assert {name: round(value, 2) for name, value in prices.price_parts(book, FOUND, 2).items()} == {
        "API Gateway": 3.5,
        "Lambda": 26.93,
        "S3": 14.0,
        "CloudWatch logs": 1.0,
    }


def test_a_cold_search_pays_its_start_or_its_restore(book: PriceBook) -> None:
    whole, restored = (prices.price_cold(book, 1000, 2, snapshot=snapshot)["Lambda"] for snapshot in (False, True))
    second = prices.price_warm(book, SEARCH, 1000, 2)["Lambda"] - 0.2 - 0.2 * (0.2 + 0.133334)
    assert whole - restored == pytest.approx(3 * second - 1e6 * 2 * 0.0001397998, rel=1e-3)


def test_a_share_of_the_searches_is_cold(book: PriceBook) -> None:
    first, later = (
        sum(one.values())
        for one in (prices.price_cold(book, 1000, 2, snapshot=True), prices.price_warm(book, SEARCH, 1000, 2))
    )
    listings = 2 * sum(prices.price_warm(book, LISTING, 0, 2).values())
    assert prices.price_mixed(book, 1000, 2) == pytest.approx(0.99 * later + 0.01 * first + listings)
