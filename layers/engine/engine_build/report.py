"""Bytes of each installed distribution, before anything is left out and as shipped."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

OWN: Final = "native_loader"


def owners(site: Path) -> dict[str, str]:
    """The distribution of each installed file, as pip recorded it; read before the records are left out."""
    found = {}
    for record in sorted(site.glob("*.dist-info/RECORD")):
        name = record.parent.name.partition("-")[0].lower().replace("_", "-")
        with record.open(encoding="utf-8", newline="") as lines:
            found.update({row[0]: name for row in csv.reader(lines)})
    return found


def sizes(site: Path, owner_of: Mapping[str, str]) -> dict[str, int]:
    """Bytes by distribution; a file made by the build counts for the distribution of what it was made from."""
    found: Counter[str] = Counter()
    for path in site.rglob("*"):
        if not path.is_dir():
            found[_owner(path.relative_to(site).as_posix(), owner_of)] += path.stat().st_size
    return dict(sorted(found.items()))


def _owner(path: str, owner_of: Mapping[str, str]) -> str:
    direct = owner_of.get(path) or owner_of.get(path.removesuffix(".zst"))
    return direct or _neighbour(path, owner_of) or OWN


def _neighbour(path: str, owner_of: Mapping[str, str]) -> str:
    """For bytecode and stubs: whose top folder they lie in, or whose module they were compiled from."""
    top = path.partition("/")[0]
    if top == "__pycache__":
        return owner_of.get(f"{path.split('/')[1].partition('.')[0]}.py", "")
    return next((name for other, name in owner_of.items() if other.startswith(f"{top}/")), "")
