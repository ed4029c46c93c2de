"""Asking every question in every way, through the same search that callers get, and measuring the answers.

The ways to rank differ only after the tables were asked. So each question is put to the tables once, and what they
answered is remembered for all ways: a sweep costs little more than one search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from knowledge.concurrency import together
from knowledge.requests import DEFAULT_ALPHA, DEFAULT_MODE, Mode, SearchRequest
from knowledge.search import search
from knowledge.snapshot import Snapshot
from publish_knowledge.measures import DEPTH, Estimate, Measures, difference, estimated, measured

if TYPE_CHECKING:
    from knowledge.dataset import Dataset
    from knowledge.embedding import Vectors
    from knowledge.records import Head, PassageRow, Retrieved
    from knowledge.results import SearchAnswer
    from knowledge.scopes import Scope

T = TypeVar("T")

AT_ONCE: Final = 4
"""Questions under way together: enough to keep the cores busy, few enough not to hold each other up."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to rank; `alpha` counts only in hybrid."""

    mode: Mode
    alpha: float = DEFAULT_ALPHA

    @property
    def name(self) -> str:
        """As a table shows it."""
        return f"{self.mode} {self.alpha:g}" if self.mode == DEFAULT_MODE else self.mode


DEFAULT: Final = Setting(DEFAULT_MODE)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the grades of the items that help, by item id."""

    id: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Field:
    """Where is searched: a dataset, scopes in it, and a base or all of them."""

    dataset: Dataset
    scopes: tuple[Scope, ...]
    base_id: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of every setting, question by question in one order."""

    by_setting: Mapping[Setting, Sequence[Measures]]

    def values(self, setting: Setting, measure: str = "ndcg") -> list[float]:
        """One measure of every question: `ndcg`, `recall` or `mrr`."""
        return [getattr(one, measure) for one in self.by_setting[setting]]

    def estimate(self, setting: Setting, measure: str = "ndcg") -> Estimate:
        """Its mean over the questions."""
        return estimated(self.values(setting, measure))

    def against(self, setting: Setting, reference: Setting) -> Estimate:
        """By how much nDCG differs between two settings, paired."""
        return difference(self.values(setting), self.values(reference))


async def evaluate(
    field: Field,
    questions: Sequence[Question],
    settings: Iterable[Setting],
    embed: Callable[[str], Vectors],
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Measured:
    """Ask every question in every setting; raises what a search raises."""
    distinct = tuple(dict.fromkeys(settings))
    rows: list[list[Measures]] = []
    for first in range(0, len(questions), AT_ONCE):
        some = questions[first : first + AT_ONCE]
        answers = await together(asked(field, question.text, distinct, embed) for question in some)
        rows += [
            [measured(ranking(answer), question.grades) for answer in row]
            for question, row in zip(some, answers, strict=True)
        ]
        on_progress(len(rows), len(questions))
    return Measured({setting: [row[place] for row in rows] for place, setting in enumerate(distinct)})


async def asked(
    field: Field, text: str, settings: Sequence[Setting], embed: Callable[[str], Vectors]
) -> list[SearchAnswer]:
    """The answers to one question, one for each setting, all from one state of the tables."""

    async def work(snapshots: Sequence[Snapshot]) -> list[SearchAnswer]:
        remembered = [Remembered(snapshot) for snapshot in snapshots]
        vector = await asyncio.to_thread(embed, text)
        requests = [SearchRequest(text, field.base_id, DEPTH, one.mode, one.alpha) for one in settings]
        return [await search(remembered, request, lambda _text: vector) for request in requests]

    return await field.dataset.run(field.scopes, work)


def ranking(answer: SearchAnswer) -> list[str]:
    """Item ids of an answer, best first."""
    return [hit.revision.item_id for hit in answer.hits]


@dataclass(slots=True)
class _Memory:
    answers: dict[Any, Any] = field(default_factory=dict)

    async def of(self, key: Any, ask: Callable[[], Awaitable[T]]) -> T:  # noqa: ANN401 - anything hashable
        if key not in self.answers:
            self.answers[key] = await ask()
        answer: T = self.answers[key]
        return answer


class Remembered(Snapshot):
    """A snapshot that asks its tables each thing once. It lives for one question: its memory has no bound."""

    def __init__(self, inner: Snapshot) -> None:
        self.scope = inner.scope
        self._inner = inner
        self._memory = _Memory()

    async def passages(self) -> int:
        """As the snapshot's."""
        return await self._inner.passages()

    async def archived_bases(self) -> frozenset[str]:
        """As the snapshot's."""
        return await self._inner.archived_bases()

    async def has_published(self, base_id: str) -> bool:
        """As the snapshot's."""
        return await self._memory.of(base_id, lambda: self._inner.has_published(base_id))

    async def lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """As the snapshot's."""
        key = ("lexical", terms, base_id, tuple(exclude), limit)
        return await self._memory.of(key, lambda: self._inner.lexical(terms, base_id, key[3], limit))

    async def semantic(self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """As the snapshot's; all settings of a question share its vector."""
        key = ("semantic", base_id, tuple(exclude), limit)
        return await self._memory.of(key, lambda: self._inner.semantic(vector, base_id, key[2], limit))

    async def heads(self, item_ids: Sequence[str]) -> dict[str, Head]:
        """As the snapshot's; only heads not seen yet are read."""
        known = self._memory.answers.setdefault("heads", {})
        missing = [item for item in item_ids if item not in known]
        if missing:
            found = await self._inner.heads(missing)
            known.update({item: found.get(item) for item in missing})
        return {item: head for item in item_ids if (head := known[item]) is not None}

    async def texts(self, hits: Sequence[Retrieved]) -> dict[tuple[str, int], PassageRow]:
        """As the snapshot's; only texts not seen yet are read."""
        known = self._memory.answers.setdefault("texts", {})
        missing = [hit for hit in hits if hit.passage not in known]
        if missing:
            found = await self._inner.texts(missing)
            known.update({hit.passage: found.get(hit.passage) for hit in missing})
        return {hit.passage: row for hit in hits if (row := known[hit.passage]) is not None}
