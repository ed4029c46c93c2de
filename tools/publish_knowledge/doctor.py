"""Finding what is wrong with a dataset, and putting right what can be put right without its sources."""

from __future__ import annotations

from dataclasses import dataclass

from publish_knowledge.store import Store


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: a stable code, the scope's name or table it is in, a sentence, and whether `repair` can mend it."""

    code: str
    where: str
    detail: str
    repairable: bool


async def examine(store: Store) -> tuple[Finding, ...]:
    """Every fault found, none changed; empty for a sound dataset. Raises only where the store cannot be reached."""
    raise NotImplementedError


async def repair(store: Store) -> tuple[Finding, ...]:
    """Mend what can be mended; returns what `examine` still finds afterwards."""
    raise NotImplementedError
