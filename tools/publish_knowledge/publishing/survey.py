"""What is wrong with one scope's rows, worked out from one look at them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from knowledge.store.schema import PUBLISHED
from publish_knowledge.publishing.plan import ItemHead
from publish_knowledge.store.arrow_rows import tiles
from publish_knowledge.store.scope_tables import Ranges

Revision = tuple[str, str]
"""Item id and revision id."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: a stable code, the scope's name or table it is in, a sentence, and whether `repair` can mend it."""

    code: str
    where: str
    detail: str
    repairable: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """All rows of a scope, without their texts: `current` at one version, then the archive."""

    scope: str
    heads: Mapping[str, ItemHead]
    history: Mapping[Revision, ItemHead]
    archived_bases: frozenset[str]
    visible: Ranges
    kept: Ranges

    @property
    def expected(self) -> dict[Revision, ItemHead]:
        """Current revisions of published items in active bases: whose passages `current` must have."""
        heads = [head for head in self.heads.values() if head.state == PUBLISHED]
        return {(head.item_id, head.revision_id): head for head in heads if head.base_id not in self.archived_bases}

    @property
    def strays(self) -> list[Revision]:
        """Passages in `current` that nobody may see."""
        return sorted(self.visible.keys() - self.expected.keys())

    @property
    def incomplete(self) -> list[Revision]:
        """Current revisions whose passages in `current` do not tile their text."""
        wanted = self.expected.items()
        return sorted(key for key, head in wanted if not tiles(self.visible.get(key, []), head.total_chars))

    @property
    def unkept(self) -> list[Revision]:
        """Published revisions whose passages in the archive do not tile their text."""
        wanted = {**self.history, **self.expected}.items()
        return sorted(key for key, head in wanted if not tiles(self.kept.get(key, []), head.total_chars))

    @property
    def headless(self) -> list[str]:
        """Items that have a history but no head."""
        return sorted({item for item, _ in self.history} - self.heads.keys())

    @property
    def unfinished(self) -> list[str]:
        """Items of which only the archive knows: publishing them was interrupted."""
        return sorted({item for item, _ in self.kept} - self.heads.keys() - set(self.headless))


def findings(survey: Survey) -> Iterator[Finding]:
    """Every fault of a survey."""
    lost = set(survey.incomplete) & set(survey.unkept)
    for item, revision in survey.strays:
        detail = f"Passages of {revision} of {item}, which is not a current published revision, are in the way."
        yield Finding("stray-passages", survey.scope, detail, repairable=True)
    for key in survey.incomplete:
        yield _incomplete(survey.scope, key, lost=key in lost)
    for item, revision in (key for key in survey.unkept if key not in lost):
        again = (item, revision) in survey.expected
        detail = f"The archive lacks text of {revision} of {item}{'' if again else ', and nothing else has it'}."
        yield Finding("archive-gap", survey.scope, detail, repairable=again)
    for item in survey.headless:
        detail = f"{item} has revisions but no head; a head that is archived can stand in for it."
        yield Finding("missing-head", survey.scope, detail, repairable=True)
    for item in survey.unfinished:
        detail = f"Publishing {item} was interrupted. Run it again, or keep what there is as a draft."
        yield Finding("unfinished-publish", survey.scope, detail, repairable=True)


def _incomplete(scope: str, key: Revision, *, lost: bool) -> Finding:
    item, revision = key
    if lost:
        detail = f"The text of {revision} of {item} is lost. Archive the item and publish its source again."
        return Finding("lost-text", scope, detail, repairable=True)
    detail = f"Passages of {revision} of {item} are missing, but the archive has them."
    return Finding("missing-passages", scope, detail, repairable=True)
