"""What is decided for a document, without a store."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from knowledge.scopes import Scope
from knowledge.store.schema import ARCHIVED, DRAFT, PUBLISHED, State
from publish_knowledge.passages.indexed_text import list_embedded_texts
from publish_knowledge.passages.splitting import split_text
from publish_knowledge.publishing.plan import (
    Action,
    ItemOutcome,
    PreparedDocument,
    PublishReport,
    Step,
    build_head,
    build_revision,
    collect_vectors,
    plan_step,
    prepare_document,
)
from publish_knowledge.sources.documents import Document, Original
from publish_knowledge.store.records import ItemHead
from tests.support.datasets import ANA, BEN, SUPPORT, document
from tests.support.publishing import HARBOUR, RIVER

NOW = "2026-01-02T03:04:05Z"


def prepare(text: str = RIVER, title: str = "Rivers", path: str = "a.md") -> PreparedDocument:
    return prepare_document(ANA, "notes", document(path, text, title=title))


def publish_step(head: ItemHead | None, text: str, title: str = "Rivers") -> ItemHead:
    return build_head(plan_step(prepare(text, title), head, draft=False), NOW)


FIRST = publish_step(None, RIVER)
DRAFT_HEAD = build_head(plan_step(prepare(), None, draft=True), NOW)


def test_a_prepared_document_is_described_but_has_no_revision_yet() -> None:
    info = prepare().info
    assert (info.scope, info.base_id, info.title, info.language, info.source_uri) == (
        ANA,
        "notes",
        "Rivers",
        "en",
        "a.md",
    )
    assert (info.total_chars, info.content_sha256) == (len(RIVER), hashlib.sha256(RIVER.encode()).hexdigest())
    assert (info.revision_id, info.published_at) == ("", "")


def test_a_text_with_a_lone_surrogate_has_a_digest() -> None:
    assert len(prepare("\ud800").info.content_sha256) == 64


@pytest.mark.parametrize(
    ("head", "text", "draft", "action"),
    [
        (None, RIVER, False, "created"),
        (None, RIVER, True, "drafted"),
        (FIRST, RIVER, False, "unchanged"),
        (FIRST, RIVER, True, "unchanged"),
        (FIRST, HARBOUR, False, "changed"),
        (FIRST, HARBOUR, True, "drafted"),
        (replace(FIRST, state=ARCHIVED), RIVER, False, "restored"),
        (replace(FIRST, state=ARCHIVED), RIVER, True, "unchanged"),
        (replace(FIRST, state=ARCHIVED), HARBOUR, False, "changed"),
        (DRAFT_HEAD, RIVER, False, "created"),
        (DRAFT_HEAD, RIVER, True, "drafted"),
    ],
)
def test_the_action_follows_from_the_current_revision(
    head: ItemHead | None, text: str, action: Action, *, draft: bool
) -> None:
    step = plan_step(prepare(text), head, draft=draft)
    assert step.action == action
    assert step.writes is (action != "unchanged")
    assert step.outcome == ItemOutcome("a.md", step.item_id, step.revision_id, action)


def test_only_the_title_edited_is_a_new_revision() -> None:
    step = plan_step(prepare(title="Streams"), FIRST, draft=False)
    assert step.action == "changed"
    assert step.revision_id != FIRST.revision_id
    assert step.previous_id == FIRST.revision_id


def test_going_back_to_an_earlier_text_is_a_third_revision() -> None:
    second = publish_step(FIRST, HARBOUR)
    third = publish_step(second, RIVER)
    assert len({FIRST.revision_id, second.revision_id, third.revision_id}) == 3
    assert [one.previous_id for one in (FIRST, second, third)] == ["", FIRST.revision_id, second.revision_id]
    assert [one.sequence for one in (FIRST, second, third)] == [1, 2, 3]


def test_a_renamed_file_is_another_item_unless_its_front_matter_names_one() -> None:
    def item_of(one: Document) -> str:
        return prepare_document(ANA, "notes", one).item_id

    assert item_of(document("a.md", RIVER)) != item_of(document("b.md", RIVER))
    named = [document(path, RIVER, front_matter_id="river") for path in ("c.md", "d.md")]
    assert item_of(named[0]) == item_of(named[1])


def test_the_same_path_in_other_scopes_and_bases_is_another_item() -> None:
    places: list[tuple[Scope, str]] = [(ANA, "notes"), (ANA, "other"), (BEN, "notes"), (SUPPORT, "notes")]
    assert len({prepare_document(scope, base, document("a.md", RIVER)).item_id for scope, base in places}) == 4


@pytest.mark.parametrize(
    ("step", "state", "sequence", "published_at"),
    [
        (plan_step(prepare(), None, draft=False), PUBLISHED, 1, NOW),
        (plan_step(prepare(HARBOUR), FIRST, draft=False), PUBLISHED, 2, NOW),
        (plan_step(prepare(), None, draft=True), DRAFT, 0, ""),
        (plan_step(prepare(), replace(FIRST, state=ARCHIVED, sequence=7), draft=False), PUBLISHED, 7, NOW),
    ],
)
def test_the_head_that_a_step_leaves_behind(step: Step, state: State, sequence: int, published_at: str) -> None:
    head = build_head(step, NOW)
    assert (head.state, head.sequence, head.info.published_at) == (state, sequence, published_at)
    assert head.revision_id == ("" if state == DRAFT else step.revision_id)


def test_a_revision_takes_its_vectors_by_the_texts_that_were_embedded() -> None:
    step = plan_step(prepare(), None, draft=False)
    passages = split_text(RIVER, "markdown")
    texts = list_embedded_texts("Rivers", passages)
    vectors = {text: np.full(4, at, np.float16) for at, text in enumerate(texts) if text is not None}
    assert len(vectors) == len(texts)
    revision = build_revision(step, passages, {**vectors, "another": np.zeros(4, np.float16)}, NOW)
    assert revision.is_complete
    assert (revision.info, revision.created_at) == (step.info, NOW)
    assert revision.vectors.shape == (len(passages), 4)
    known = collect_vectors([revision], embeds_context=True)
    assert {text: list(vector) for text, vector in known.items()} == {text: list(vectors[text]) for text in vectors}


def test_a_report_counts_actions_in_the_order_of_their_first_occurrence() -> None:
    actions: list[Action] = ["unchanged", "created", "unchanged"]
    report = PublishReport(tuple(ItemOutcome("a.md", "ki", "kr", action) for action in actions))
    assert list(report.count_actions().items()) == [("unchanged", 2), ("created", 1)]
    assert (report.count("unchanged"), report.count("refused")) == (2, 0)


def convert(text: str = RIVER, original: str = "1", language: str = "") -> PreparedDocument:
    made = document("a.docx", text, title="Rivers")
    return prepare_document(ANA, "notes", replace(made, original=Original(original, language)))


@pytest.mark.parametrize(
    ("now", "reconvert", "action"),
    [
        (convert(), False, "unchanged"),
        (convert(), True, "unchanged"),
        (convert(HARBOUR), False, "unchanged"),
        (convert(HARBOUR), True, "changed"),
        (convert(original="2"), False, "changed"),
        (convert(language="es"), False, "changed"),
    ],
)
def test_a_converted_document_changes_with_its_original(
    now: PreparedDocument,
    reconvert: bool,  # noqa: FBT001 - parametrized
    action: Action,
) -> None:
    head = build_head(plan_step(convert(), None, draft=False), NOW)
    step = plan_step(now, head, draft=False, reconvert=reconvert)
    assert step.action == action
    assert (step.revision_id == head.revision_id) == (action == "unchanged")


def test_two_conversions_of_an_original_are_two_revisions() -> None:
    first, second = (plan_step(convert(text), None, draft=False) for text in (RIVER, HARBOUR))
    assert first.revision_id != second.revision_id
