"""What was passed over, counted by type or listed by name."""

from __future__ import annotations

from publish_knowledge.cli.passed_over import format_passed_over
from publish_knowledge.sources.files import PassedOver


def test_files_are_counted_by_type_and_folders_named() -> None:
    passed = [
        *(PassedOver(f"docs/{number}.PNG", "format") for number in range(9)),
        *(PassedOver(f"docs/{number}.zip", "ignored") for number in range(3)),
    ]
    assert list(format_passed_over(passed, verbose=False)) == [
        "12 files passed over: 9 .png, 3 .zip (--verbose lists them)."
    ]
    folders = [PassedOver(path, "default", is_folder=True) for path in ("node_modules", "x/build")]
    files = [PassedOver("docs/Makefile", "format"), PassedOver("docs/.x", "default"), PassedOver("b", "default")]
    (line,) = format_passed_over([*passed, *files, *folders], verbose=False)
    assert line == (
        "15 files passed over: 9 .png, 3 .zip, 1 by default, 1 hidden, 1 without extension; "
        "2 folders passed over: build, node_modules (--verbose lists them)."
    )


def test_nothing_is_said_where_nothing_was_passed_over_and_many_types_are_cut() -> None:
    assert list(format_passed_over([], verbose=False)) == []
    many = [PassedOver(f"a.x{number}", "format") for number in range(10)]
    (line,) = format_passed_over(many, verbose=False)
    assert line.endswith("1 .x7 and 2 more (--verbose lists them).")


def test_each_is_listed_with_the_reason() -> None:
    passed = [
        PassedOver("a.png", "format"),
        PassedOver("build", "default", is_folder=True),
        PassedOver("b", "excluded"),
    ]
    assert list(format_passed_over(passed, verbose=True)) == [
        "passed over a.png: not a format that is published",
        "passed over build/: left out by default",
        "passed over b: left out by --exclude",
    ]


def test_formats_that_an_extra_converts_are_named() -> None:
    passed = [PassedOver("a.pdf", "not installed"), PassedOver("b.docx", "not installed")]
    (line,) = format_passed_over(passed, verbose=False)
    assert line.endswith("(--verbose lists them). .docx, .pdf can be published with the extra `formats`.")
