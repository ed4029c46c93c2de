"""Price measured calls, and format the tables of `docs/cost.md`. Prices and assumptions come from `cost.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

MILLION: Final = 1_000_000
_MONTH_HOURS: Final = 730
LISTING: Final = "handshake or listing"
SEARCH: Final = "search"
READ: Final = "read"
FIRST: Final = "first search"


@dataclass(frozen=True, slots=True)
class Kind:
    """Means of one kind of request in a scope of that many passages; `log_bytes` include the metrics."""

    name: str
    passages: int
    milliseconds: float
    gets: float
    lists: float
    log_bytes: float


@dataclass(frozen=True, slots=True)
class PriceBook:
    """The content of `cost.json`: list prices in dollars, assumptions, a managed store's prices, and measurements."""

    prices: Mapping[str, float]
    assumptions: Mapping[str, float]
    managed: Mapping[str, float]
    as_of: str
    start_milliseconds: float
    kinds: tuple[Kind, ...]

    @property
    def sizes(self) -> list[int]:
        """The sizes that were measured, in passages."""
        return sorted({kind.passages for kind in self.kinds if kind.passages})

    def kind(self, name: str, passages: int = 0) -> Kind:
        """Return the means of one kind of request at one size."""
        return next(kind for kind in self.kinds if (kind.name, kind.passages) == (name, passages))


def parse_price_book(kept: Mapping[str, Any]) -> PriceBook:
    """Build the price book from the content of `cost.json`."""
    return PriceBook(
        kept["prices"],
        kept["assumptions"],
        kept["managed"],
        kept["prices_as_of"],
        kept["measured"]["start_milliseconds"],
        tuple(Kind(**kind) for kind in kept["measured"]["kinds"]),
    )


def price_parts(book: PriceBook, kind: Kind, memory_gb: float, seconds: float | None = None) -> dict[str, float]:
    """Price a million requests of a kind in dollars, by service; the authorizer counts as Lambda."""
    price, assumed = book.prices, book.assumptions
    taken = kind.milliseconds / 1000 if seconds is None else seconds
    authorizer = price["lambda_request"] + assumed["authorizer_gb_seconds"] * price["lambda_gb_second"]
    each = {
        "API Gateway": price["gateway_request"],
        "Lambda": price["lambda_request"]
        + taken * memory_gb * price["lambda_gb_second"]
        + assumed["authorizer_share"] * authorizer,
        "S3": kind.gets * price["s3_get"] + kind.lists * price["s3_list"],
        "CloudWatch logs": (kind.log_bytes + assumed["platform_log_bytes"]) / 1e9 * price["log_gb"],
    }
    return {name: MILLION * value for name, value in each.items()}


def price_warm(book: PriceBook, name: str, passages: int, memory_gb: float) -> dict[str, float]:
    """Price a million calls of a warm function."""
    return price_parts(book, book.kind(name, passages), memory_gb)


def price_cold(book: PriceBook, passages: int, memory_gb: float, *, snapshot: bool) -> dict[str, float]:
    """Price a million searches that each start a new environment, either completely or from a snapshot."""
    kind = book.kind(FIRST, passages)
    if not snapshot:
        return price_parts(book, kind, memory_gb, (book.start_milliseconds + kind.milliseconds) / 1000)
    restore = MILLION * book.prices["snapshot_restore_gb"] * memory_gb
    found = price_parts(book, kind, memory_gb)
    return {**found, "Lambda": found["Lambda"] + restore}


def price_mixed(book: PriceBook, passages: int, memory_gb: float) -> float:
    """Price a million searches as assumed: some of them cold, each with its share of handshakes and listings."""
    share = book.assumptions["cold_share"]
    calls = (1 - share) * sum(price_warm(book, SEARCH, passages, memory_gb).values())
    calls += share * sum(price_cold(book, passages, memory_gb, snapshot=True).values())
    return calls + (book.assumptions["requests_per_call"] - 1) * sum(price_warm(book, LISTING, 0, memory_gb).values())


def price_snapshot_month(book: PriceBook, memory_gb: float) -> float:
    """Price a month of one version's snapshot, in dollars."""
    return book.prices["snapshot_gb_second"] * memory_gb * _MONTH_HOURS * 3600


def price_managed_month(book: PriceBook, units: float) -> float:
    """Price a month of the managed store's units, in dollars, whatever its load."""
    return units * book.managed["unit_hour"] * _MONTH_HOURS


def format_tables(book: PriceBook, memory_mb: int) -> str:
    """Format the Markdown between the marks of `docs/cost.md`."""
    memory_gb = memory_mb / 1024
    blocks = [
        _format_measured(book),
        _format_priced(book, memory_gb),
        _format_mixed(book, memory_gb),
        _format_managed(book, memory_gb),
    ]
    start = f"A start takes {book.start_milliseconds:.0f} ms here, with one processor."
    heading = f"List prices as of {book.as_of}; {memory_mb} MB of memory. {start}"
    return "\n\n".join([heading, *("\n".join(block) for block in blocks)])


def _format_measured(book: PriceBook) -> Iterator[str]:
    yield "| one request | passages | ms | S3 GET, HEAD | S3 LIST | log bytes |"
    yield "|---|---:|---:|---:|---:|---:|"
    for kind in book.kinds:
        size = f"{kind.passages:,}" if kind.passages else ""
        numbers = (f"{kind.milliseconds:.0f}", f"{kind.gets:.1f}", f"{kind.lists:.1f}", f"{kind.log_bytes:.0f}")
        yield f"| {kind.name} | {size} | {' | '.join(numbers)} |"


def _format_priced(book: PriceBook, memory_gb: float) -> Iterator[str]:
    rows: list[tuple[str, int, dict[str, float]]] = [(LISTING, 0, price_warm(book, LISTING, 0, memory_gb))]
    for size in book.sizes:
        rows += [(f"{name}, warm", size, price_warm(book, name, size, memory_gb)) for name in (SEARCH, READ)]
        rows += [(f"{SEARCH}, cold, from the snapshot", size, price_cold(book, size, memory_gb, snapshot=True))]
        rows += [(f"{SEARCH}, cold, without one", size, price_cold(book, size, memory_gb, snapshot=False))]
    heads = list(rows[0][2])
    yield f"| a million of | passages | {' | '.join(heads)} | total |"
    yield "|---" + "|---:" * (len(heads) + 2) + "|"
    for name, size, price in rows:
        shown = " | ".join(_format_dollars(price[head]) for head in heads)
        yield f"| {name} | {f'{size:,}' if size else ''} | {shown} | {_format_dollars(sum(price.values()))} |"


def _format_mixed(book: PriceBook, memory_gb: float) -> Iterator[str]:
    share, requests = book.assumptions["cold_share"], book.assumptions["requests_per_call"]
    yield f"| a million searches, {share:.0%} of them cold, {requests:g} requests each | dollars |"
    yield "|---|---:|"
    for size in book.sizes:
        yield f"| {size:,} passages | {_format_dollars(price_mixed(book, size, memory_gb))} |"


def _format_managed(book: PriceBook, memory_gb: float) -> Iterator[str]:
    least, usual = book.managed["units_least"], book.managed["units_redundant"]
    size = book.sizes[len(book.sizes) // 2]
    each = price_mixed(book, size, memory_gb)
    yield f"| searches a month | all of this, {size:,} passages | the managed store alone, {least:g}…{usual:g} units |"
    yield "|---:|---:|---:|"
    floors = (
        f"{_format_dollars(price_managed_month(book, least))} … {_format_dollars(price_managed_month(book, usual))}"
    )
    for calls in (10_000, 100_000, MILLION, 10 * MILLION):
        whole = each * calls / MILLION + price_snapshot_month(book, memory_gb)
        yield f"| {calls:,} | {_format_dollars(whole)} | {floors} |"


def _format_dollars(value: float) -> str:
    return f"${value:,.2f}"


def update_page(text: str, book: PriceBook, memory_mb: int, marks: Sequence[str]) -> str:
    """Return a page with the part between the marks replaced."""
    before, _, rest = text.partition(marks[0])
    _, _, after = rest.partition(marks[1])
    return f"{before}{marks[0]}\n{format_tables(book, memory_mb)}\n{marks[1]}{after}"
