"""Long items: whole pages, searched by the headings of their sections, which are removed from the indexed text.

A question is a heading that occurs once in the whole corpus. Its page should come first, and the excerpt shown should
lie in the section below that heading.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.quality.checks import Verdict
from benchmarks.quality.collections_dataset import CollectionsDataset, log, log_progress
from benchmarks.support.lance import ICU_ENGLISH, PREPARED_TERMS, build_text_index
from knowledge.scopes import Scope
from knowledge.search.analysis import analyze_query
from knowledge.store.concurrency import gather_all
from publish_knowledge.evaluation.metrics import compute_metrics, estimate_difference, estimate_mean
from publish_knowledge.evaluation.report import format_estimate
from publish_knowledge.evaluation.runs import CONCURRENT_QUERIES, DEFAULT, Corpus, search_in_settings
from publish_knowledge.passages.indexed_text import build_embedded_text, build_indexed_terms
from publish_knowledge.passages.markdown_blocks import Block, parse_blocks
from publish_knowledge.passages.splitting import Passage, split_text
from publish_knowledge.sources.documents import Document
from publish_knowledge.sources.files import find_files
from publish_knowledge.sources.loading import load_documents

if TYPE_CHECKING:
    from knowledge.embedding.base import Vectors
    from knowledge.results import SearchHit

GAIN: Final = 0.03
"""By how much passages have to be better than whole pages."""

IN_SECTION: Final = 0.70
"""Share of first hits whose excerpt has to lie in the right section."""

_MOSTLY: Final = 0.5

QUESTIONS: Final = 1_000
"""At most so many, drawn with a fixed seed; the half-width is then below 0.03."""

_SCOPE: Final = Scope("team", "pages")
_BASE: Final = "pages"
_SECTION_LEVEL: Final = 2
"""The first level is the page's title, which stays as the item's title."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading removed from a page, and the range of its section in the remaining text."""

    heading: str
    path: str
    start: int
    end: int

    @property
    def grades(self) -> dict[str, int]:
        """The relevant page, as qrels have it."""
        return {self.path: 1}

    def compute_share(self, hit: SearchHit) -> float:
        """Return the share of a hit's excerpt in the section, or of the section in the excerpt if that is longer."""
        if hit.revision.source_uri != self.path:
            return 0.0
        end = hit.excerpt_offset + len(hit.excerpt)
        common = min(end, self.end) - max(hit.excerpt_offset, self.start)
        return max(0, common) / max(1, min(len(hit.excerpt), self.end - self.start))


@dataclass(frozen=True, slots=True)
class SectionAnswer:
    """One question: the paths that the default search found, in order, and its first excerpt's share in the section."""

    section: Section
    paths: tuple[str, ...]
    share: float

    @property
    def ndcg(self) -> float:
        """nDCG@10 of the pages found."""
        return _compute_ndcg(self.paths, self.section)

    @property
    def is_first(self) -> bool:
        """Whether the right page came first."""
        return self.paths[:1] == (self.section.path,)


async def measure_pages(bench: CollectionsDataset, folder: Path) -> list[Verdict]:
    """Publish the pages, search for their sections, print the figures, and return the verdicts."""
    pages = load_documents(find_files([folder])).documents
    documents, sections = remove_headings(pages)
    log(f"{len(documents)} pages, {len(sections)} headings that occur once")
    chosen = random.Random(7).sample(sections, min(QUESTIONS, len(sections)))
    await bench.publish(_SCOPE, _BASE, documents)
    answered = await _ask_sections(bench, chosen)
    whole = {
        "mean of the passages' vectors": _score_mean_vectors(bench, documents, chosen),
        "BM25 (icu/split, English stems)": await _score_words(bench, documents, chosen),
        "BM25 (the product's own words)": await _score_own_words(bench, documents, chosen),
    }
    ndcg = [one.ndcg for one in answered]
    print(f"{len(chosen)} headings  nDCG@10 of {len(documents)} pages")
    print(f"{'the default call':<34}{format_estimate(estimate_mean(ndcg))}")
    for name, values in whole.items():
        gain = estimate_difference(ndcg, values)
        print(f"{name:<34}{format_estimate(estimate_mean(values))}   {format_estimate(gain, signed=True)}")
    return _check_pages(answered, list(whole.values()))


def remove_headings(pages: Iterable[Document]) -> tuple[list[Document], list[Section]]:
    """Remove the section headings that occur once among all pages; return the pages and the sections."""
    outlines = [(page, _find_headings(page)) for page in pages]
    counts = Counter(_normalize_title(block.title) for _, found in outlines for block in found)
    counts.update(_normalize_title(page.title) for page, _ in outlines)
    documents: list[Document] = []
    sections: list[Section] = []
    for page, found in outlines:
        once = [
            block for block in found if block.level >= _SECTION_LEVEL and counts[_normalize_title(block.title)] == 1
        ]
        sections += _list_sections(page, found, once)
        documents.append(replace(page, text=_remove_blocks(page.text, once)))
    return documents, [section for section in sections if section.end > section.start]


def _find_headings(page: Document) -> list[Block]:
    return [block for block in parse_blocks(page.text, page.kind) if block.kind == "heading"]


def _normalize_title(title: str) -> str:
    return title.casefold().strip()


def _remove_blocks(text: str, taken: Sequence[Block]) -> str:
    kept, at = [], 0
    for block in taken:
        kept.append(text[at : block.start])
        at = block.end
    return "".join([*kept, text[at:]])


def _list_sections(page: Document, found: Sequence[Block], taken: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections of the removed headings: each reaches to the next heading that is not below its own."""

    def shift(offset: int) -> int:
        return offset - sum(block.end - block.start for block in taken if block.end <= offset)

    for block in taken:
        following = (other.start for other in found if other.start > block.start and other.level <= block.level)
        yield Section(block.title, page.source_path, shift(block.end), shift(next(following, len(page.text))))


async def _ask_sections(bench: CollectionsDataset, sections: Sequence[Section]) -> list[SectionAnswer]:
    dataset = bench.dataset()
    corpus = Corpus(dataset, (_SCOPE,), _BASE)
    report = partial(log_progress, f"{_BASE}: asked")
    answered: list[SectionAnswer] = []
    try:
        for first in range(0, len(sections), CONCURRENT_QUERIES):
            some = sections[first : first + CONCURRENT_QUERIES]
            rows = await gather_all(
                search_in_settings(corpus, one.heading, [DEFAULT], bench.embed_query) for one in some
            )
            for section, (answer,) in zip(some, rows, strict=True):
                paths = tuple(hit.revision.source_uri for hit in answer.hits)
                answered.append(
                    SectionAnswer(section, paths, section.compute_share(answer.hits[0]) if answer.hits else 0.0)
                )
            report(len(answered), len(sections))
    finally:
        await dataset.close()
    return answered


def _score_mean_vectors(
    bench: CollectionsDataset, documents: Sequence[Document], sections: Sequence[Section]
) -> list[float]:
    log("one vector for each page")
    means = np.stack([_compute_mean_vector(bench, document) for document in documents])
    names = [document.source_path for document in documents]
    found = []
    for section in sections:
        order = np.argsort(-(means @ bench.embed_query(section.heading)), kind="stable")
        found.append(_compute_ndcg([names[position] for position in order[:10]], section))
    return found


def _compute_mean_vector(bench: CollectionsDataset, document: Document) -> Vectors:
    texts = [build_embedded_text(document.title, passage) for passage in split_text(document.text, document.kind)]
    mean = bench.embed_passages(texts).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


async def _score_words(
    bench: CollectionsDataset, documents: Sequence[Document], sections: Sequence[Section]
) -> list[float]:
    texts = [(one.source_path, f"{one.title}\n{one.text}") for one in documents]
    index = await build_text_index(bench.compared, "pages", texts, ICU_ENGLISH)
    return [await index.score(section.heading, section.grades) for section in sections]


async def _score_own_words(
    bench: CollectionsDataset, documents: Sequence[Document], sections: Sequence[Section]
) -> list[float]:
    whole = [(one, Passage(0, 0, len(one.text), "", one.text)) for one in documents]
    texts = [(one.source_path, build_indexed_terms(one.title, one.language, passage)) for one, passage in whole]
    index = await build_text_index(bench.compared, "page_terms", texts, PREPARED_TERMS)
    terms = (" ".join(analyze_query(section.heading).terms) for section in sections)
    return [await index.score(words, section.grades) for words, section in zip(terms, sections, strict=True)]


def _compute_ndcg(paths: Sequence[str], section: Section) -> float:
    return compute_metrics(paths, section.grades).ndcg


def _check_pages(answered: Sequence[SectionAnswer], whole: Sequence[Sequence[float]]) -> list[Verdict]:
    best = max(whole, key=lambda values: estimate_mean(values).mean)
    gain = estimate_difference([one.ndcg for one in answered], best)
    first = [one.share for one in answered if one.is_first]
    inside = sum(share >= _MOSTLY for share in first) / max(1, len(first))
    touching = sum(share > 0 for share in first) / max(1, len(first))
    return [
        Verdict(
            f"pages found at least {GAIN} better than as wholes", gain.mean >= GAIN, format_estimate(gain, signed=True)
        ),
        Verdict(
            f"the excerpt mostly in the section asked for in {IN_SECTION:.0%} of first hits",
            inside >= IN_SECTION,
            f"{inside:.1%} of the {len(first)} on the right page; {touching:.1%} touch it",
        ),
    ]
