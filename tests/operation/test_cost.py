"""The cost page holds what was measured, and nothing that was written by hand."""

from __future__ import annotations

from benchmarks.cost import PAGE, Kind, dollars_per_million, kept, memory_of_template, page


def test_the_page_is_what_the_figures_make() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text, kept(), memory_of_template()) == text


def test_the_price_of_a_request_is_the_sum_of_its_parts() -> None:
    parts = dollars_per_million(Kind("read", 1000, gets=10, lists=2, log_bytes=1300), memory_gb=2)
    assert {name: round(value, 2) for name, value in parts.items()} == {
        "API Gateway": 3.5,
        "Lambda": 26.93,
        "S3": 14.0,
        "CloudWatch logs": 1.0,
    }
