"""What a search and a read answer with: values, and the one place that knows their JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from knowledge.scopes import Scope

SEARCH_TYPE = "knowledge_search"
READ_TYPE = "knowledge"


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of one item, as a reader may know it."""

    scope: Scope
    base_id: str
    item_id: str
    revision_id: str
    title: str
    language: str
    published_at: str
    source_type: str
    source_uri: str
    total_chars: int
    content_sha256: str

    def identity(self) -> dict[str, Any]:
        """The id and metadata fields that both results share."""
        owner = self.scope.id if self.scope.kind == "owner" else None
        team = self.scope.id if self.scope.kind == "team" else None
        return {
            "knowledge_base_id": self.base_id,
            "knowledge_item_id": self.item_id,
            "knowledge_revision_id": self.revision_id,
            "scope": self.scope.kind,
            "owner_id": owner,
            "team_id": team,
            "title": self.title,
            "language": self.language,
            "published_at": self.published_at,
        }

    def source(self, locator: str) -> dict[str, str]:
        """Where the text comes from, and a citation that a person can follow."""
        section = f", section “{locator}”" if locator else ""
        citation = f"{self.title}{section} ({self.source_uri})"
        return {"type": self.source_type, "uri": self.source_uri, "citation": citation}

    def reference(self, start: int, end: int) -> str:
        """`knowledge://<base>/<item>@<revision>#char=<start>,<end>`, ids percent-encoded."""
        base, item, revision = (
            quote(part, safe="", errors="replace") for part in (self.base_id, self.item_id, self.revision_id)
        )
        return f"knowledge://{base}/{item}@{revision}#char={start},{end}"


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
            "score": self.score,
            "lexical": self.lexical,
            "semantic": self.semantic,
            "lexical_rank": self.lexical_rank,
            "semantic_rank": self.semantic_rank,
        }


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One item, represented by its best passage."""

    revision: Revision
    excerpt: str
    excerpt_offset: int
    locator: str
    scores: Scores

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        end = self.excerpt_offset + len(self.excerpt)
        return {
            **self.revision.identity(),
            "excerpt": self.excerpt,
            "excerpt_offset": self.excerpt_offset,
            "locator": self.locator,
            "source": self.revision.source(self.locator),
            "reference": self.revision.reference(self.excerpt_offset, end),
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

    revision: Revision
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
            **self.revision.identity(),
            "is_current": self.is_current,
            "content": self.content,
            "locator": self.locator,
            "source": self.revision.source(self.locator),
            "reference": self.revision.reference(self.offset, end),
            "content_offset": self.offset,
            "content_limit": self.limit,
            "content_total_chars": self.revision.total_chars,
            "content_truncated": truncated,
            "content_sha256": self.revision.content_sha256,
            "continuation": following if truncated else None,
        }
