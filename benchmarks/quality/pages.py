"""Long items: whole pages, asked for by the headings of their sections, which are taken out of the indexed text.

A question is a heading that occurs once in the whole corpus. Its page should come first, and the excerpt shown should
lie in the section that the heading stood over.
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
from benchmarks.quality.collections_dataset import CollectionsDataset, progress, say
from benchmarks.support.lance import AS_THEY_ARE, ICU_ENGLISH, TextIndex, text_index
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
"""Share of first hits whose excerpt has to lie in the section asked for."""

_MOSTLY: Final = 0.5

QUESTIONS: Final = 1_000
"""Asked at most, drawn with a fixed seed; the half-width is then below 0.03."""

_SCOPE: Final = Scope("team", "pages")
_BASE: Final = "pages"
_SECTION_LEVEL: Final = 2
"""A page's own title is the first level; it stays, as the item's title."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading taken out of a page, and the range it stood over in what is left."""

    heading: str
    path: str
    start: int
    end: int

    def share(self, hit: SearchHit) -> float:
        """How much of a hit's excerpt lies in the section, or of the section in the excerpt if that is the longer."""
        if hit.revision.source_uri != self.path:
            return 0.0
        end = hit.excerpt_offset + len(hit.excerpt)
        common = min(end, self.end) - max(hit.excerpt_offset, self.start)
        return max(0, common) / max(1, min(len(hit.excerpt), self.end - self.start))


@dataclass(frozen=True, slots=True)
class Answered:
    """One question: the paths that the default call found, in order, and its first excerpt's share in the section."""

    section: Section
    paths: tuple[str, ...]
    share: float

    @property
    def ndcg(self) -> float:
        """Of the pages found."""
        return _ndcg(self.paths, self.section)

    @property
    def first(self) -> bool:
        """Whether the right page came first."""
        return self.paths[:1] == (self.section.path,)


async def whole_pages(bench: CollectionsDataset, folder: Path) -> list[Verdict]:
    """Publish the pages, ask for their sections, print the figures; the verdicts."""
    pages = load_documents(find_files([folder])).documents
    documents, sections = without_headings(pages)
    say(f"{len(documents)} pages, {len(sections)} headings that occur once")
    chosen = random.Random(7).sample(sections, min(QUESTIONS, len(sections)))
    await bench.publish(_SCOPE, _BASE, documents)
    answered = await _asked(bench, chosen)
    whole = {
        "mean of the passages' vectors": _by_mean_vector(bench, documents, chosen),
        "BM25 (icu/split, English stems)": await _by_words(bench, documents, chosen),
        "BM25 (the product's own words)": await _by_own_words(bench, documents, chosen),
    }
    ndcg = [one.ndcg for one in answered]
    print(f"{len(chosen)} headings  nDCG@10 of {len(documents)} pages")
    print(f"{'the default call':<34}{format_estimate(estimate_mean(ndcg))}")
    for name, values in whole.items():
        gain = estimate_difference(ndcg, values)
        print(f"{name:<34}{format_estimate(estimate_mean(values))}   {format_estimate(gain, signed=True)}")
    return _verdicts(answered, list(whole.values()))


def without_headings(pages: Iterable[Document]) -> tuple[list[Document], list[Section]]:
    """Pages without the section headings that occur once among all, and the sections they stood over."""
    outlines = [
        (page, [block for block in parse_blocks(page.text, page.kind) if block.kind == "heading"]) for page in pages
    ]
    counts = Counter(_name(block.title) for _, found in outlines for block in found)
    counts.update(_name(page.title) for page, _ in outlines)
    documents: list[Document] = []
    sections: list[Section] = []
    for page, found in outlines:
        once = [block for block in found if block.level >= _SECTION_LEVEL and counts[_name(block.title)] == 1]
        sections += _sections(page, found, once)
        documents.append(replace(page, text=_cut(page.text, once)))
    return documents, [section for section in sections if section.end > section.start]


def _headings(page: Document) -> list[Block]:
    return [block for block in parse_blocks(page.text, page.kind) if block.kind == "heading"]


def _name(title: str) -> str:
    return title.casefold().strip()


def _cut(text: str, taken: Sequence[Block]) -> str:
    kept, at = [], 0
    for block in taken:
        kept.append(text[at : block.start])
        at = block.end
    return "".join([*kept, text[at:]])


def _sections(page: Document, found: Sequence[Block], taken: Sequence[Block]) -> Iterator[Section]:
    """A section reaches to the next heading that is not below its own."""

    def left(offset: int) -> int:
        return offset - sum(block.end - block.start for block in taken if block.end <= offset)

    for block in taken:
        following = (other.start for other in found if other.start > block.start and other.level <= block.level)
        yield Section(block.title, page.source_path, left(block.end), left(next(following, len(page.text))))


async def _asked(bench: CollectionsDataset, sections: Sequence[Section]) -> list[Answered]:
    dataset = bench.dataset()
    corpus = Corpus(dataset, (_SCOPE,), _BASE)
    said = partial(progress, f"{_BASE}: asked")
    answered: list[Answered] = []
    try:
        for first in range(0, len(sections), CONCURRENT_QUERIES):
            some = sections[first : first + CONCURRENT_QUERIES]
            rows = await gather_all(
                search_in_settings(corpus, one.heading, [DEFAULT], bench.embed_query) for one in some
            )
            for section, (answer,) in zip(some, rows, strict=True):
                paths = tuple(hit.revision.source_uri for hit in answer.hits)
                answered.append(Answered(section, paths, section.share(answer.hits[0]) if answer.hits else 0.0))
            said(len(answered), len(sections))
    finally:
        await dataset.close()
    return answered


def _by_mean_vector(
    bench: CollectionsDataset, documents: Sequence[Document], sections: Sequence[Section]
) -> list[float]:
    say("one vector for each page")
    means = np.stack([_mean_vector(bench, document) for document in documents])
    names = [document.source_path for document in documents]
    found = []
    for section in sections:
        order = np.argsort(-(means @ bench.embed_query(section.heading)), kind="stable")
        found.append(_ndcg([names[position] for position in order[:10]], section))
    return found


def _mean_vector(bench: CollectionsDataset, document: Document) -> Vectors:
    texts = [build_embedded_text(document.title, passage) for passage in split_text(document.text, document.kind)]
    mean = bench.embed_passages(texts).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


async def _by_words(
    bench: CollectionsDataset, documents: Sequence[Document], sections: Sequence[Section]
) -> list[float]:
    texts = [(one.source_path, f"{one.title}\n{one.text}") for one in documents]
    index = await text_index(bench.compared, "pages", texts, ICU_ENGLISH)
    return [await _index_ndcg(index, section.heading, section) for section in sections]


async def _by_own_words(
    bench: CollectionsDataset, documents: Sequence[Document], sections: Sequence[Section]
) -> list[float]:
    whole = [(one, Passage(0, 0, len(one.text), "", one.text)) for one in documents]
    texts = [(one.source_path, build_indexed_terms(one.title, one.language, passage)) for one, passage in whole]
    index = await text_index(bench.compared, "page_terms", texts, AS_THEY_ARE)
    terms = (" ".join(analyze_query(section.heading).terms) for section in sections)
    return [await _index_ndcg(index, words, section) for words, section in zip(terms, sections, strict=True)]


async def _index_ndcg(index: TextIndex, query: str, section: Section) -> float:
    return _ndcg([name for name, _ in await index.ranked(query)], section)


def _ndcg(paths: Sequence[str], section: Section) -> float:
    return compute_metrics(paths, {section.path: 1}).ndcg


def _verdicts(answered: Sequence[Answered], whole: Sequence[Sequence[float]]) -> list[Verdict]:
    best = max(whole, key=lambda values: estimate_mean(values).mean)
    gain = estimate_difference([one.ndcg for one in answered], best)
    first = [one.share for one in answered if one.first]
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
