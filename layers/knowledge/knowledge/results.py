"""Answers of searches and reads, as values; the one module that knows their JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from knowledge.labels import make_visible

if TYPE_CHECKING:
    from knowledge.store.revision import RevisionInfo

SEARCH_TYPE = "knowledge_search"
READ_TYPE = "knowledge"
SCORE_DECIMALS = 4
"""Decimals of all scores: more would say nothing, and cost a caller tokens."""


@dataclass(frozen=True, slots=True)
class Scores:
    """`score` is 0..1 and comparable inside one answer; `lexical` is BM25, `semantic` cosine, both raw or absent."""

    score: float
    lexical: float | None
    semantic: float | None
    lexical_rank: int | None
    semantic_rank: int | None

    def as_dict(self) -> dict[str, float | int | None]:
        """JSON form."""
        return {
            "score": round(self.score, SCORE_DECIMALS),
            "lexical": None if self.lexical is None else round(self.lexical, SCORE_DECIMALS),
            "semantic": None if self.semantic is None else round(self.semantic, SCORE_DECIMALS),
            "lexical_rank": self.lexical_rank,
            "semantic_rank": self.semantic_rank,
        }


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One item, represented by its best passage."""

    revision: RevisionInfo
    excerpt: str
    excerpt_offset: int
    locator: str
    scores: Scores

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        end = self.excerpt_offset + len(self.excerpt)
        return {
            **_identity(self.revision),
            "excerpt": self.excerpt,
            "excerpt_offset": self.excerpt_offset,
            "locator": make_visible(self.locator),
            "source": _source(self.revision, self.locator),
            "reference": _reference(self.revision, self.excerpt_offset, end),
            "scores": self.scores.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Ranked items; `alpha` is the lexical weight, `None` outside hybrid."""

    mode: str
    alpha: float | None
    hits: tuple[SearchHit, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        weights = None if self.alpha is None else {"lexical": self.alpha, "semantic": 1 - self.alpha}
        return {
            "type": SEARCH_TYPE,
            "mode": self.mode,
            "weights": weights,
            "results": [hit.as_dict() for hit in self.hits],
        }


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """One window of one revision. `offset` and `limit` echo the request, in code points."""

    revision: RevisionInfo
    is_current: bool
    content: str
    locator: str
    offset: int
    limit: int

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        end = self.offset + len(self.content)
        truncated = end < self.revision.total_chars
        following = {
            "knowledge_item_id": self.revision.item_id,
            "knowledge_revision_id": self.revision.revision_id,
            "offset": end,
        }
        return {
            "type": READ_TYPE,
            **_identity(self.revision),
            "is_current": self.is_current,
            "content": self.content,
            "locator": make_visible(self.locator),
            "source": _source(self.revision, self.locator),
            "reference": _reference(self.revision, self.offset, end),
            "content_offset": self.offset,
            "content_limit": self.limit,
            "content_total_chars": self.revision.total_chars,
            "content_truncated": truncated,
            "content_sha256": self.revision.content_sha256,
            "continuation": following if truncated else None,
        }


def _identity(info: RevisionInfo) -> dict[str, Any]:
    """The id and metadata fields that both results share."""
    return {
        "knowledge_base_id": info.base_id,
        "knowledge_item_id": info.item_id,
        "knowledge_revision_id": info.revision_id,
        "scope": info.scope.kind,
        "owner_id": info.scope.id if info.scope.kind == "owner" else None,
        "team_id": info.scope.id if info.scope.kind == "team" else None,
        "title": info.title,
        "language": info.language,
        "published_at": info.published_at,
    }


def _source(info: RevisionInfo, locator: str) -> dict[str, str]:
    """Where the text comes from, and a citation that a person can follow."""
    section = f", section “{locator}”" if locator else ""
    citation = f"{info.title}{section} ({info.source_uri})"
    return {"type": info.source_type, "uri": info.source_uri, "citation": make_visible(citation)}


def _reference(info: RevisionInfo, start: int, end: int) -> str:
    """`knowledge://<base>/<item>@<revision>#char=<start>,<end>`, ids percent-encoded."""
    base, item, revision = (
        quote(part, safe="", errors="replace") for part in (info.base_id, info.item_id, info.revision_id)
    )
    return f"knowledge://{base}/{item}@{revision}#char={start},{end}"
