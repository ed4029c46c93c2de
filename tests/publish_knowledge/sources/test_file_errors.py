"""The JSON form of a file's error."""

from __future__ import annotations

from publish_knowledge.sources.file_errors import FileError


def test_an_error_names_its_path_and_its_reason() -> None:
    assert FileError("docs/a.md", "It is empty.").as_dict() == {"path": "docs/a.md", "reason": "It is empty."}
