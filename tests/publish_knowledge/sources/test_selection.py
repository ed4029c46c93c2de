"""Which paths are published, without a file system."""

from __future__ import annotations

import time

import pytest

from publish_knowledge.sources.selection import (
    MAX_PATTERNS,
    PatternError,
    Reason,
    build_selection,
    compile_patterns,
    read_ignore_file,
)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("guide/install.md", None),
        ("node_modules/left-pad/README.md", "default"),
        ("web/node_modules/x.md", "default"),
        (".venv/lib/x.txt", "default"),
        ("build/index.md", "default"),
        ("site/build.md", None),
        (".obsidian/workspace.md", "default"),
        ("guide/.hidden.md", "default"),
        ("builder/a.md", None),
    ],
)
def test_defaults_leave_out_hidden_files_packages_and_build_folders(path: str, reason: Reason | None) -> None:
    assert build_selection().explain(path) == reason
    assert build_selection().explain(f"docs/{path}", "docs/") == reason


def test_the_folder_that_was_given_and_named_files_are_not_subject_to_the_defaults() -> None:
    assert build_selection().explain("build/a.md", "build/") is None
    assert build_selection().explain(".notes/.a.md", is_named=True) is None


@pytest.mark.parametrize(
    ("patterns", "left_out", "published"),
    [
        (["drafts/"], ["docs/drafts/a.md", "docs/x/drafts/b/c.md"], ["docs/drafts.md"]),
        (["*.txt"], ["docs/a.txt", "docs/x/b.txt"], ["docs/a.md"]),
        (["/guide/a.md"], ["docs/guide/a.md"], ["docs/x/guide/a.md"]),
        (["docs/guide/a.md"], ["docs/guide/a.md"], ["docs/x/docs/guide/a.md"]),
        (["**/old/**"], ["docs/old/a.md", "docs/x/old/y/b.md"], ["docs/older/a.md"]),
        (["*.md", "!keep.md"], ["docs/a.md"], ["docs/keep.md", "docs/x/keep.md"]),
        (["# comment", "", "a.md "], ["docs/a.md"], ["docs/b.md"]),
        (["v[12]/"], ["docs/v1/a.md"], ["docs/v3/a.md"]),
        (["x/", "!x/keep.md"], ["docs/x/keep.md"], []),
    ],
)
def test_patterns_have_the_meaning_of_gitignore(patterns: list[str], left_out: list[str], published: list[str]) -> None:
    excluding, ignoring, including = build_selection(patterns), build_selection(), build_selection((), patterns)
    ignoring.ignored.append(read_ignore_file("\n".join(patterns), "docs/"))
    for path in left_out:
        assert excluding.explain(path, "docs/") == "excluded"
        if not patterns[0].startswith("docs/"):
            assert ignoring.explain(path, "docs/") == "ignored"
        if "!x/keep.md" not in patterns:
            assert including.explain(path, "docs/") is None
    for path in published:
        assert excluding.explain(path, "docs/") is None
        assert ignoring.explain(path, "docs/") is None
        assert including.explain(path, "docs/") == "not included"


def test_an_ignore_file_applies_below_its_folder_and_inner_ones_take_precedence() -> None:
    selection = build_selection()
    selection.ignored.append(read_ignore_file("\ufeff*.txt\r\n", "docs/"))
    selection.ignored.append(read_ignore_file("!*.txt", "docs/inner/"))
    assert selection.explain("docs/a.txt", "docs/") == "ignored"
    assert selection.explain("docs/inner/a.txt", "docs/") is None
    assert selection.explain("other/a.txt", "other/") is None


def test_a_default_is_undone_by_negation_or_by_spelling_the_name_out() -> None:
    selection = build_selection()
    selection.ignored.append(read_ignore_file("!build/\n!.github/", ""))
    assert selection.explain("build/a.md") is None
    assert selection.explain(".github/a.md") is None
    including = build_selection((), [".github/", "build/", "*.md"])
    assert including.explain(".github/a.md") is None
    assert including.explain("build/b.md") is None
    assert including.explain("node_modules/a.md") == "default"
    assert including.explain(".hidden.md") == "default"


def test_what_is_excluded_cannot_be_included() -> None:
    selection = build_selection(["secret/"], ["secret/a.md"])
    assert selection.explain("secret/a.md") == "excluded"


def test_what_an_include_does_not_match_was_not_looked_for() -> None:
    selection = build_selection((), ["guide/"])
    assert selection.includes("docs/guide/gone.md", ("docs/",))
    assert not selection.includes("docs/gone.md", ("docs/",))
    assert build_selection().includes("any.md")


WILDCARDS = "has more than 4 wildcards, or more than 3 in one name. Use several patterns."


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["*a*a*a*b"], f"--exclude, pattern 1: '*a*a*a*b' {WILDCARDS}"),
        (["a*b/**/c*d/**/e*"], f"--exclude, pattern 1: 'a*b/**/c*d/**/e*' {WILDCARDS}"),
        (["fine", "!"], "--exclude, pattern 2: '!' is not a pattern of gitignore's syntax. Correct it."),
        (["a"] * (MAX_PATTERNS + 1), "--exclude has 1,001 patterns; 1,000 is the limit."),
    ],
)
def test_patterns_that_cannot_be_used_are_refused_by_name(lines: list[str], message: str) -> None:
    with pytest.raises(PatternError) as refused:
        build_selection(lines)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a*a*b", "a" * 255),
        ("a*a*a*b", "a" * 255),
        ("**/*a*a*b", "a" * 255),
        ("**/a/**/a/**/a/b", "a/" * 100),
        ("**/a/**/*a*b", "a/" * 100 + "a" * 255),
        ("?" * 200 + "*" * 200 + "b", "a" * 255),
    ],
)
def test_the_worst_pattern_takes_a_bounded_time(pattern: str, path: str) -> None:
    patterns = compile_patterns([pattern], "test")
    began = time.process_time()
    assert patterns.decide(path) is None
    taken = time.process_time() - began
    began = time.process_time()
    sum(number * number for number in range(1_000_000))  # the reference: a tenth of a second or less
    assert taken < 10 * (time.process_time() - began)
