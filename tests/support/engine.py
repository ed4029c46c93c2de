"""Files of the engine layer's tests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import lazy_imports

HERE: Final = Path(lazy_imports.__file__)
FRONT: Final = '''"""A shop."""

from shop.tills import (
    Till,
    Drawer as Box,
)
from .goods import Apple
from json import dumps

Chest = Box

def weigh(what: Apple) -> Till: ...
'''


def write(folder: Path, *paths: str, data: bytes = b"data") -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder
