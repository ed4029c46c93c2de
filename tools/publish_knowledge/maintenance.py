"""Keeping tables quick: small fragments joined, indexes brought up to date, old versions cleaned away."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.scopes import Scope
from publish_knowledge.store import Store


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """One table after maintenance."""

    table: str
    scope: str
    fragments: int
    unindexed_rows: int


async def optimize_dataset(store: Store, scope: Scope | None = None) -> tuple[OptimizeReport, ...]:
    """Optimize both tables of a scope, or of every scope."""
    raise NotImplementedError
