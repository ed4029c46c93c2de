"""Which paths are published: defaults, `.knowledgeignore`, `--exclude` and `--include`, in gitignore's syntax.

Works on paths with forward slashes alone, so that every source of files can use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Literal

from pathspec import GitIgnoreSpec

IGNORE_FILE: Final = ".knowledgeignore"

DEFAULT_EXCLUDES: Final = (
    *(".*", "node_modules/", "bower_components/", "site-packages/", "venv/", "__pycache__/", "*.egg-info/"),
    *("build/", "dist/", "target/", "_build/", "_site/"),
)
"""Hidden entries, installed packages, and what builds leave behind: none of it is written for readers."""

MAX_IGNORE_BYTES: Final = 65_536
MAX_PATTERNS: Final = 1_000
MAX_WILDCARDS: Final = 4
MAX_NAME_WILDCARDS: Final = 3
"""Limits of patterns, which a stranger may have written, and of wildcards in one of their names. A pattern takes time
like the length of a name to the power of its wildcards: here hundredths of a second at worst."""

Reason = Literal["default", "ignored", "excluded", "not included"]
"""Why a path is left out: by the defaults, by a `.knowledgeignore`, by `--exclude`, by `--include`."""

_WILDCARDS: Final = re.compile(r"\*+")


class PatternError(ValueError):
    """A pattern that cannot be used. Nothing is published then: it may say what must stay out."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns in order, of which the last that matches decides. `folder` is what they relate to, as "docs/"."""

    lines: tuple[str, ...] = ()
    folder: str = ""
    rules: tuple[tuple[bool, re.Pattern[str]], ...] = field(default=(), compare=False)

    def decide(self, *paths: str) -> bool | None:
        """Whether a path is matched, `False` where a pattern with `!` matches last; `None` without a match.

        Several paths are names of one file. Those of folders end with a slash.
        """
        inside = [path.removeprefix(self.folder) for path in paths if path.startswith(self.folder)]
        matching = (matches for matches, regex in reversed(self.rules) if any(map(regex.match, inside)))
        return next(matching, None)


def compile_patterns(lines: Iterable[str], name: str, folder: str = "") -> Patterns:
    """Compile lines in gitignore's syntax; `name` stands for them in messages. Raises `PatternError`."""
    kept = tuple(lines)
    if len(kept) > MAX_PATTERNS:
        raise PatternError(f"{name} has {len(kept):,} patterns; {MAX_PATTERNS:,} is the limit.")
    rules: list[tuple[bool, re.Pattern[str]]] = []
    for number, line in enumerate(kept, start=1):
        if not line.strip():
            continue
        rules += _compile_line(line, f"{name}, pattern {number}")
    return Patterns(kept, folder, tuple(rules))


def _compile_line(line: str, name: str) -> Iterator[tuple[bool, re.Pattern[str]]]:
    counts = [len(_WILDCARDS.findall(part)) for part in line.split("/")]
    is_costly = sum(counts) > MAX_WILDCARDS or max(counts) > MAX_NAME_WILDCARDS
    if is_costly and not line.lstrip().startswith("#"):
        limits = f"{MAX_WILDCARDS} wildcards, or more than {MAX_NAME_WILDCARDS} in one name"
        raise PatternError(f"{name}: {line!r} has more than {limits}. Use several patterns.")
    try:
        (pattern,) = GitIgnoreSpec.from_lines([_WILDCARDS.sub(lambda match: match.group()[:2], line)]).patterns
    except ValueError as error:
        raise PatternError(f"{name}: {line!r} is not a pattern of gitignore's syntax. Correct it.") from error
    if pattern.include is not None and pattern.regex is not None:
        yield pattern.include, pattern.regex


def read_ignore_file(text: str, folder: str) -> Patterns:
    """Patterns of a `.knowledgeignore` in a folder; raises `PatternError`."""
    lines = (line for line in text.removeprefix("\ufeff").splitlines() if line.strip() and not line.startswith("#"))
    return compile_patterns(lines, f"{folder}{IGNORE_FILE}", folder)


@dataclass(slots=True)
class Selection:
    """What is published. Patterns of `.knowledgeignore` files are added where such files are found.

    Later ones take precedence: the defaults, `.knowledgeignore` from the outermost folder inwards, `exclude`. As in
    git, nothing below a folder that is left out can be brought back. `include` leaves out whatever it does not match;
    a name that the defaults leave out is published if it is spelled out there.
    """

    exclude: Patterns = field(default_factory=Patterns)
    include: Patterns = field(default_factory=Patterns)
    ignored: list[Patterns] = field(default_factory=list)
    defaults: Patterns = field(default_factory=lambda: compile_patterns(DEFAULT_EXCLUDES, "defaults"))

    def explain(self, path: str, base: str = "", *, is_named: bool = False) -> Reason | None:
        """Why a file is left out, with all folders above it; `None` where it is published."""
        names = path.removeprefix(base).split("/")
        for depth in range(1, len(names)):
            reason = self.explain_entry(f"{base}{'/'.join(names[:depth])}/", base, is_named=is_named)
            if reason:
                return reason
        return self.explain_entry(path, base, is_named=is_named)

    def explain_entry(self, path: str, base: str = "", *, is_named: bool = False) -> Reason | None:
        """Why one entry is left out, the folders above it aside; folders end with a slash.

        `base` is the folder that was given ("docs/"): patterns may relate to it as well as to the path as a whole, and
        the defaults do not apply to it. Nor do they to a file that is named itself.
        """
        paths = (path,) if not base or not path.startswith(base) else (path, path.removeprefix(base))
        reason: Reason | None = None
        if not is_named and not self._is_spelled_out(path) and self.defaults.decide(_get_name(path)):
            reason = "default"
        for source, name in (*((patterns, "ignored") for patterns in self.ignored), (self.exclude, "excluded")):
            decision = source.decide(*paths) if name == "excluded" else source.decide(path)
            if decision is not None:
                reason = _name_reason(name) if decision else None
        if reason is None and self.include.rules and not path.endswith("/") and not self.include.decide(*paths):
            return "not included"
        return reason

    def includes(self, path: str, bases: Iterable[str] = ("",)) -> bool:
        """Whether `include` admits a path below one of the folders that were given, there or not."""
        inside = [path.removeprefix(base) for base in bases if path.startswith(base)]
        return not self.include.rules or bool(self.include.decide(path, *inside))

    def _is_spelled_out(self, path: str) -> bool:
        name = _get_name(path).rstrip("/")
        return any(
            part == name or (part.startswith(".") and fnmatchcase(name, part))
            for line in self.include.lines
            if not line.startswith("!")
            for part in line.split("/")
        )


def _get_name(path: str) -> str:
    """The last name of a path, with the slash of a folder."""
    return path[path.rstrip("/").rfind("/") + 1 :]


def _name_reason(name: str) -> Reason:
    return "excluded" if name == "excluded" else "ignored"


def build_selection(exclude: Sequence[str] = (), include: Sequence[str] = ()) -> Selection:
    """A selection from the patterns of `--exclude` and `--include`; raises `PatternError`."""
    return Selection(compile_patterns(exclude, "--exclude"), compile_patterns(include, "--include"))
