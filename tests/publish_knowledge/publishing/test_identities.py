"""Which item a document continues: path first, then text, then the archived item of its path."""

from __future__ import annotations

from dataclasses import replace

from knowledge.store.schema import ARCHIVED, PUBLISHED, State
from publish_knowledge.publishing.identities import assign_items
from publish_knowledge.publishing.plan import prepare_document
from publish_knowledge.sources.documents import Document
from publish_knowledge.store.records import ItemHead
from tests.support.datasets import ANA, document, item


def head(path: str, text: str, *, state: State = PUBLISHED, item_id: str | None = None) -> ItemHead:
    prepared = prepare_document(ANA, "notes", replace(document(path, text), item_id=item_id))
    return ItemHead(replace(prepared.info, revision_id="kr_1"), "", prepared.fingerprint, state, 1)


def assign(documents: list[Document], heads: list[ItemHead], *, moves: bool = True) -> dict[str, str | None]:
    paths = {one.source_path for one in documents}

    def is_gone(one: ItemHead) -> bool:
        return one.info.source_uri not in paths

    named = assign_items(ANA, "notes", documents, heads, is_gone=is_gone if moves else None)
    assert [one.source_path for one in named] == [one.source_path for one in documents]
    return {one.source_path: one.item_id for one in named}


def first(path: str) -> str:
    return item(ANA, "notes", path)


def test_a_new_file_gets_the_id_of_its_path() -> None:
    assert assign([document("a.md", "a")], []) == {"a.md": first("a.md")}


def test_an_edited_file_keeps_its_item_whatever_it_is_called() -> None:
    moved = head("b.md", "old", item_id=first("a.md"))
    assert assign([document("b.md", "new")], [moved]) == {"b.md": first("a.md")}


def test_the_same_text_under_another_path_keeps_the_item_only_where_the_old_file_is_gone() -> None:
    heads = [head("a.md", "text")]
    assert assign([document("b.md", "text")], heads) == {"b.md": first("a.md")}
    copied = assign([document("b.md", "text"), document("a.md", "text")], heads)
    assert copied == {"a.md": first("a.md"), "b.md": first("b.md")}
    assert assign([document("b.md", "text")], heads, moves=False) == {"b.md": first("b.md")}


def test_a_rename_with_an_edit_is_a_new_item() -> None:
    assert assign([document("b.md", "text 2")], [head("a.md", "text")]) == {"b.md": first("b.md")}


def test_a_new_file_at_the_old_path_of_a_renamed_one_gets_another_id() -> None:
    moved = head("b.md", "text", item_id=first("a.md"))
    named = assign([document("a.md", "new"), document("b.md", "text")], [moved])
    assert named["b.md"] == first("a.md")
    assert named["a.md"] not in {first("a.md"), first("b.md"), None}
    again = assign([document("a.md", "new"), document("b.md", "text")], [moved])
    assert again == named
    third = head("c.md", "new", item_id=named["a.md"])
    assert assign([document("a.md", "newer")], [moved, third])["a.md"] not in {first("a.md"), named["a.md"]}


def test_equal_texts_are_paired_by_file_name_then_by_path() -> None:
    heads = [head("old/a.md", "same"), head("old/b.md", "same"), head("old/c.md", "same")]
    named = assign([document(f"new/{name}.md", "same") for name in ("b", "x", "y", "z")], heads)
    assert named == {
        "new/b.md": first("old/b.md"),
        "new/x.md": first("old/a.md"),
        "new/y.md": first("old/c.md"),
        "new/z.md": first("new/z.md"),
    }


def test_a_declared_id_decides_and_its_item_is_no_other_files() -> None:
    declared = document("b.md", "text", front_matter_id="x")
    named = assign([declared], [])
    taken = head("a.md", "text", item_id=named["b.md"])
    again = assign([declared, document("a.md", "text")], [taken])
    assert again == {"b.md": named["b.md"], "a.md": first("a.md")}


def test_a_file_whose_declared_id_was_removed_keeps_its_item() -> None:
    declared = head("a.md", "text", item_id="ki_declared")
    assert assign([document("a.md", "text")], [declared]) == {"a.md": "ki_declared"}


def test_a_file_that_comes_back_gets_its_archived_item_back() -> None:
    gone = head("b.md", "text", state=ARCHIVED, item_id=first("a.md"))
    assert assign([document("b.md", "other")], [gone]) == {"b.md": first("a.md")}
    assert assign([document("c.md", "text")], [gone]) == {"c.md": first("c.md")}


def test_reserved_items_are_not_continued_and_two_documents_of_one_path_share_an_item() -> None:
    heads = [head("a.md", "text")]
    (named,) = assign_items(ANA, "notes", [document("a.md", "x")], heads, reserved=[first("a.md")])
    assert named.item_id != first("a.md")
    twice = assign_items(ANA, "notes", [document("a.md", "x"), document("a.md", "y")], [])
    assert [one.item_id for one in twice] == [first("a.md")] * 2
