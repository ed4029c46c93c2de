"""Requests to the core library, as values; the server and the command line have checked them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["hybrid", "lexical", "semantic", "rrf"]
MODES: Final[tuple[Mode, ...]] = ("hybrid", "lexical", "semantic", "rrf")
LEXICAL_MODES: Final[frozenset[Mode]] = frozenset({"hybrid", "lexical", "rrf"})
SEMANTIC_MODES: Final[frozenset[Mode]] = frozenset({"hybrid", "semantic", "rrf"})
"""Modes that search the lexical, and the semantic side."""
DEFAULT_MODE: Final[Mode] = "hybrid"
DEFAULT_ALPHA: Final = 0.5
DEFAULT_RESULTS: Final = 10
MAX_RESULTS: Final = 50
DEFAULT_WINDOW: Final = 4_000


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Ranked search over current revisions. `alpha` is the lexical weight of hybrid, already within 0..1."""

    query: str
    base_id: str = ""
    max_results: int = DEFAULT_RESULTS
    mode: Mode = DEFAULT_MODE
    alpha: float = DEFAULT_ALPHA


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One window of one item's revision, in code points; without a revision id, of the current one."""

    item_id: str
    revision_id: str = ""
    base_id: str = ""
    offset: int = 0
    limit: int = DEFAULT_WINDOW


def parse_mode(text: str) -> Mode:
    """The mode that a text names, ignoring case and surrounding whitespace; any other text means the default."""
    wanted = text.strip().lower()
    return next((mode for mode in MODES if mode == wanted), DEFAULT_MODE)
