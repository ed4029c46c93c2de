"""From a planned document to the revision that is stored: passages, and vectors known or new. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from publish_knowledge.passages.indexed_text import build_embedded_text
from publish_knowledge.passages.splitting import Passage, split_text
from publish_knowledge.publishing.plan import Step
from publish_knowledge.store.arrow_rows import HalfVectors, StoredRevision

KnownVectors = Mapping[str, HalfVectors]
"""Vectors of shape (dimensions,) by the text that was embedded."""


def known_vectors(revisions: Iterable[StoredRevision]) -> dict[str, HalfVectors]:
    """Vectors that stored revisions already have: an unchanged passage is never embedded again."""
    known: dict[str, HalfVectors] = {}
    for revision in revisions:
        for passage, vector in zip(revision.passages, revision.vectors, strict=True):
            known[build_embedded_text(revision.title, passage)] = vector
    return known


def wanted_texts(step: Step) -> list[str]:
    """What must have a vector before the step can be stored."""
    return [build_embedded_text(step.document.title, passage) for passage in _split(step)]


def revision_of(step: Step, known: KnownVectors, created_at: str) -> StoredRevision:
    """The revision to store. `known` must have a vector for each of `wanted_texts`."""
    document, prepared, passages = step.document, step.prepared, _split(step)
    return StoredRevision(
        item_id=prepared.item_id,
        base_id=prepared.base_id,
        revision_id=step.revision_id,
        title=document.title,
        language=document.language,
        source_type=document.source_type,
        source_uri=document.source_path,
        total_chars=len(document.text),
        content_sha256=prepared.content_sha256,
        previous_id=step.previous_id,
        fingerprint=prepared.fingerprint,
        created_at=created_at,
        passages=passages,
        vectors=np.stack([known[build_embedded_text(document.title, passage)] for passage in passages]),
    )


def _split(step: Step) -> tuple[Passage, ...]:
    return split_text(step.document.text, step.document.kind)
