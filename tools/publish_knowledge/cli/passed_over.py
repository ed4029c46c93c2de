"""Say what was passed over: counted by type, or by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from publish_knowledge.sources.files import PassedOver

_NAMED: Final = 8
"""Types and folders that the summary names; the rest is counted."""

_REASONS: Final = {
    "format": "not a format that is published",
    "not installed": 'needs the extra `formats` (pip install "search-knowledge[formats]")',
    "default": "left out by default",
    "ignored": "left out by .knowledgeignore",
    "excluded": "left out by --exclude",
    "not included": "not matched by --include",
}


def format_passed_over(passed: Sequence[PassedOver], *, verbose: bool) -> Iterator[str]:
    """A line for each with `verbose`, one for all without; none if nothing was passed over."""
    if verbose:
        for one in passed:
            yield f"passed over {one.path}{'/' if one.is_folder else ''}: {_REASONS[one.reason]}"
    elif passed:
        yield summarize_passed_over(passed)


def summarize_passed_over(passed: Sequence[PassedOver]) -> str:
    """One sentence, as "12 files passed over: 9 .png, 3 .zip (--verbose lists them)."."""
    files = Counter(_name_type(one) for one in passed if not one.is_folder)
    folders = Counter(PurePosixPath(one.path).name for one in passed if one.is_folder)
    parts = [
        f"{_count(files.total(), 'file')} passed over: {_join([f'{count} {name}' for name, count in _order(files)])}",
        f"{_count(folders.total(), 'folder')} passed over: {_join([name for name, _ in _order(folders)])}",
    ]
    summary = "; ".join(part for part, counts in zip(parts, (files, folders), strict=True) if counts)
    missing = sorted({PurePosixPath(one.path).suffix.lower() for one in passed if one.reason == "not installed"})
    hint = f" {_join(missing)} can be published with the extra `formats`." if missing else ""
    return f"{summary} (--verbose lists them).{hint}"


def _name_type(one: PassedOver) -> str:
    path = PurePosixPath(one.path)
    if one.reason == "default":
        return "hidden" if path.name.startswith(".") else "by default"
    return path.suffix.lower() or "without extension"


def _order(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _join(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
