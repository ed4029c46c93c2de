"""The questions that one setting answers worse than another, and what each of the two found.

A mean hides them: which questions lose, and to which items, says what to change in the texts or in the weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from publish_knowledge.evaluation.metrics import DEPTH
from publish_knowledge.evaluation.runs import Evaluation, FoundItem, JudgedQuery, Setting

_ROUNDING: Final = 1e-9
_SHOWN_CHARS: Final = 90
"""Of a question in a line of text."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A question whose nDCG is `value` in one setting and a higher `other` in another, with their first items."""

    query: JudgedQuery
    value: float
    other: float
    found: tuple[FoundItem, ...]
    found_by_other: tuple[FoundItem, ...]


def find_losses(evaluation: Evaluation, setting: Setting, other: Setting, limit: int) -> list[Loss]:
    """The questions that `setting` answers worst compared with `other`, the largest difference first."""
    losses = [
        Loss(query, value, reached, found, found_by_other)
        for query, value, reached, found, found_by_other in zip(
            evaluation.queries,
            evaluation.values(setting),
            evaluation.values(other),
            evaluation.first_items[setting],
            evaluation.first_items[other],
            strict=True,
        )
        if reached - value > _ROUNDING
    ]
    return sorted(losses, key=lambda loss: (loss.value - loss.other, loss.query.id))[:limit]


def format_losses(losses: list[Loss], setting: Setting, other: Setting) -> Iterator[str]:
    """Lines of text for a person; nothing where nothing is lost. A star marks an item that helps."""
    if not losses:
        return
    yield f"Lost most by {setting.name} against {other.name}, in nDCG@{DEPTH} (* helps):"
    width = max(len(setting.name), len(other.name))
    for loss in losses:
        text = " ".join(loss.query.text.split())
        cut = text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
        yield f"{loss.value - loss.other:+.3f}  {loss.query.id}: {cut}"
        yield f"        {setting.name:<{width}}  {_list_names(loss.found, loss.query)}"
        yield f"        {other.name:<{width}}  {_list_names(loss.found_by_other, loss.query)}"


def build_losses(losses: list[Loss]) -> list[dict[str, Any]]:
    """The same as JSON, with the grade of each item."""
    return [
        {
            "id": loss.query.id,
            "text": loss.query.text,
            "ndcg": loss.value,
            "ndcg_against": loss.other,
            "found": _build_items(loss.found, loss.query),
            "found_against": _build_items(loss.found_by_other, loss.query),
        }
        for loss in losses
    ]


def _list_names(items: tuple[FoundItem, ...], query: JudgedQuery) -> str:
    names = [item.source + ("*" if query.grades.get(item.knowledge_item_id) else "") for item in items]
    return ", ".join(names) or "nothing"


def _build_items(items: tuple[FoundItem, ...], query: JudgedQuery) -> list[dict[str, Any]]:
    return [{**asdict(item), "grade": query.grades.get(item.knowledge_item_id, 0)} for item in items]
