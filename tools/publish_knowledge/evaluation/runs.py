"""Evaluation runs: every judged query in every setting, ranked by the search that callers get, and measured.

Settings differ only after retrieval. So the candidates of each query are retrieved once and fused for every setting:
a sweep costs little more than one search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from knowledge.requests import DEFAULT_ALPHA, DEFAULT_MODE, Mode, SearchRequest
from knowledge.search.retrieval import retrieve, start_embedding
from knowledge.search.search import compose_answer
from knowledge.store.concurrency import gather_all
from publish_knowledge.evaluation.metrics import (
    DEPTH,
    Estimate,
    Metrics,
    compute_metrics,
    estimate_difference,
    estimate_mean,
)

if TYPE_CHECKING:
    from knowledge.embedding.base import Vectors
    from knowledge.results import SearchAnswer
    from knowledge.scopes import Scope
    from knowledge.store.dataset import Dataset
    from knowledge.store.snapshot import Snapshot

FIRST_ITEMS: Final = 3
"""Items of each answer that an evaluation keeps, to say what was found."""

CONCURRENT_QUERIES: Final = 4
"""Queries in flight: enough to keep the cores busy, few enough not to delay each other."""


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
class JudgedQuery:
    """A query, and the grades of the items that help, by item id."""

    id: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is searched: scopes of a dataset, and one base in them or all."""

    dataset: Dataset
    scopes: tuple[Scope, ...]
    base_id: str = ""


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item of an answer; `source` is its path or the like, for a person."""

    knowledge_item_id: str
    source: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The metrics of every setting, query by query in one order, and the first items that each query found there."""

    by_setting: Mapping[Setting, Sequence[Metrics]]
    queries: Sequence[JudgedQuery] = ()
    first_items: Mapping[Setting, Sequence[tuple[FoundItem, ...]]] = field(default_factory=dict)

    def values(self, setting: Setting, metric: str = "ndcg") -> list[float]:
        """One metric of every query: `ndcg`, `recall` or `mrr`."""
        return [getattr(one, metric) for one in self.by_setting[setting]]

    def estimate(self, setting: Setting, metric: str = "ndcg") -> Estimate:
        """Its mean over the queries."""
        return estimate_mean(self.values(setting, metric))

    def compare(self, setting: Setting, reference: Setting) -> Estimate:
        """The difference in nDCG between two settings, paired by query."""
        return estimate_difference(self.values(setting), self.values(reference))


async def evaluate(
    corpus: Corpus,
    queries: Sequence[JudgedQuery],
    settings: Iterable[Setting],
    embed: Callable[[str], Vectors],
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Evaluation:
    """Measure every query in every setting; raises what a search raises."""
    distinct = tuple(dict.fromkeys(settings))
    rows: list[list[Metrics]] = []
    first: list[list[tuple[FoundItem, ...]]] = []
    for start in range(0, len(queries), CONCURRENT_QUERIES):
        some = queries[start : start + CONCURRENT_QUERIES]
        answers = await gather_all(search_in_settings(corpus, query.text, distinct, embed) for query in some)
        rows += [
            [compute_metrics(ranked_items(answer), query.grades) for answer in row]
            for query, row in zip(some, answers, strict=True)
        ]
        first += [[_list_first_items(answer) for answer in row] for row in answers]
        on_progress(len(rows), len(queries))
    return Evaluation(
        {setting: [row[column] for row in rows] for column, setting in enumerate(distinct)},
        tuple(queries),
        {setting: [row[column] for row in first] for column, setting in enumerate(distinct)},
    )


def _list_first_items(answer: SearchAnswer) -> tuple[FoundItem, ...]:
    revisions = [hit.revision for hit in answer.hits[:FIRST_ITEMS]]
    return tuple(FoundItem(revision.item_id, revision.source_uri or revision.title) for revision in revisions)


async def search_in_settings(
    corpus: Corpus, text: str, settings: Sequence[Setting], embed: Callable[[str], Vectors]
) -> list[SearchAnswer]:
    """The answers to one query, one for each setting, all from one state of the tables."""
    # The default mode searches both sides, which serves every mode.
    request = SearchRequest(text, corpus.base_id, DEPTH, DEFAULT_MODE)
    vector = start_embedding(text, embed)

    async def work(snapshots: Sequence[Snapshot]) -> list[SearchAnswer]:
        candidates = await retrieve(snapshots, request, vector)
        requests = [replace(request, mode=setting.mode, alpha=setting.alpha) for setting in settings]
        return [await compose_answer(candidates, one) for one in requests]

    try:
        return await corpus.dataset.run(corpus.scopes, work, searching=True)
    finally:
        vector.cancel()


def ranked_items(answer: SearchAnswer) -> list[str]:
    """Item ids of an answer, best first."""
    return [hit.revision.item_id for hit in answer.hits]
