"""Measure each installed distribution in bytes, as downloaded and as shipped."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

OWN: Final = "native_loader"


def find_owners(site: Path) -> dict[str, str]:
    """Return the distribution of each installed file, as pip recorded it; to be read before the records are deleted."""
    found = {}
    for record in sorted(site.glob("*.dist-info/RECORD")):
        name = record.parent.name.partition("-")[0].lower().replace("_", "-")
        with record.open(encoding="utf-8", newline="") as lines:
            found.update({row[0]: name for row in csv.reader(lines)})
    return found


def measure_sizes(site: Path, owner_of: Mapping[str, str]) -> dict[str, int]:
    """Return bytes by distribution; a file that the build made counts for the distribution of its source."""
    found: Counter[str] = Counter()
    for path in site.rglob("*"):
        if not path.is_dir():
            found[_find_owner(path.relative_to(site).as_posix(), owner_of)] += path.stat().st_size
    return dict(sorted(found.items()))


def _find_owner(path: str, owner_of: Mapping[str, str]) -> str:
    direct = owner_of.get(path) or owner_of.get(path.removesuffix(".zst"))
    return direct or _find_neighbour(path, owner_of) or OWN


def _find_neighbour(path: str, owner_of: Mapping[str, str]) -> str:
    """Return the owner of bytecode or of a stub: of its top folder, or of the module that it was compiled from."""
    top = path.partition("/")[0]
    if top == "__pycache__":
        return owner_of.get(f"{path.split('/')[1].partition('.')[0]}.py", "")
    return next((name for other, name in owner_of.items() if other.startswith(f"{top}/")), "")
