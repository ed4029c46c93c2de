"""Asking every question in every way, through the same search that callers get, and measuring the answers.

The ways to rank differ only after the tables were asked. So each question is put to the tables once, and what they
answered is remembered for all ways: a sweep costs little more than one search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from knowledge.requests import DEFAULT_ALPHA, DEFAULT_MODE, Mode, SearchRequest
from knowledge.search.search import search
from knowledge.store.concurrency import gather_all
from publish_knowledge.evaluation.metrics import DEPTH, Estimate, Measures, difference, estimated, measured

if TYPE_CHECKING:
    from knowledge.embedding.providers import Vectors
    from knowledge.results import SearchAnswer
    from knowledge.scopes import Scope
    from knowledge.store.dataset import Dataset
    from knowledge.store.revision import Retrieved
    from knowledge.store.snapshot import Snapshot

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
class Corpus:
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
    corpus: Corpus,
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
        answers = await gather_all(asked(corpus, question.text, distinct, embed) for question in some)
        rows += [
            [measured(ranking(answer), question.grades) for answer in row]
            for question, row in zip(some, answers, strict=True)
        ]
        on_progress(len(rows), len(questions))
    return Measured({setting: [row[place] for row in rows] for place, setting in enumerate(distinct)})


async def asked(
    corpus: Corpus, text: str, settings: Sequence[Setting], embed: Callable[[str], Vectors]
) -> list[SearchAnswer]:
    """The answers to one question, one for each setting, all from one state of the tables."""

    async def work(snapshots: Sequence[Snapshot]) -> list[SearchAnswer]:
        remembered = [cast("Snapshot", Remembered(snapshot)) for snapshot in snapshots]
        vector = await asyncio.to_thread(embed, text)
        requests = [SearchRequest(text, corpus.base_id, DEPTH, one.mode, one.alpha) for one in settings]
        return [await search(remembered, request, lambda _text: vector) for request in requests]

    return await corpus.dataset.run(corpus.scopes, work)


def ranking(answer: SearchAnswer) -> list[str]:
    """Item ids of an answer, best first."""
    return [hit.revision.item_id for hit in answer.hits]


class Remembered:
    """A snapshot that is asked for each side once. It lives for one question, and all else is the snapshot's own."""

    def __init__(self, inner: Snapshot) -> None:
        self._inner = inner
        self._sides: dict[Hashable, list[Retrieved]] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a snapshot has
        return getattr(self._inner, name)

    async def lexical(self, terms: str, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """As the snapshot's."""
        left_out = tuple(exclude)
        key = (terms, base_id, left_out, limit)
        if key not in self._sides:
            self._sides[key] = await self._inner.lexical(terms, base_id, left_out, limit)
        return self._sides[key]

    async def semantic(self, vector: Vectors, base_id: str, exclude: Iterable[str], limit: int) -> list[Retrieved]:
        """As the snapshot's; a question has one vector."""
        left_out = tuple(exclude)
        key = (base_id, left_out, limit)
        if key not in self._sides:
            self._sides[key] = await self._inner.semantic(vector, base_id, left_out, limit)
        return self._sides[key]
