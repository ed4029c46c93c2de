"""Damage of every file of a dataset: an answer is right or says that the store is unavailable, and never anything else.

What a damaged file may change unnoticed is named in docs/security.md: a damaged index may hide a hit.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from knowledge.errors import DatasetMismatchError, KnowledgeError, StorageUnavailableError
from knowledge.requests import Mode, ReadRequest, SearchRequest
from knowledge.results import ReadAnswer, SearchAnswer
from tests.support.campaign import choose_trials
from tests.support.datasets import ANA, BEN, Location, build, item
from tests.support.reading import open_service, read_row_by_row

TEXTS: Final = {
    "router.md": "# Router\n\nReset the router with a needle.\n",
    "long.md": "".join(f"Sentence {number} of the manual. " for number in range(300)),
}
FOREIGN: Final = {"secret.md": "# Secret router\n\nNobody else may read this.\n"}
REVISED: Final = {"router.md": "# Router\n\nReset the router with a pin.\n"}
PATHS: Final = tuple(TEXTS)
MODES: Final[tuple[Mode, ...]] = ("hybrid", "lexical", "semantic")
SECONDS: Final = 10.0


def flip(data: bytes, place: float) -> bytes:
    """Invert one byte."""
    at = min(len(data) - 1, int(len(data) * place))
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


DAMAGES: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "deleted": lambda _data: None,
    "empty": lambda _data: b"",
    "cut in half": lambda data: data[: len(data) // 2],
    "zeroed": lambda data: bytes(len(data)),
    **{f"flipped at {place}": partial(flip, place=place) for place in (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)},
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "data"
    build(str(folder), {(ANA, "notes"): TEXTS, (BEN, "notes"): FOREIGN})
    build(str(folder), {(ANA, "notes"): REVISED})
    return folder


@pytest.fixture(params=["cached", "row by row"])
def _way_of_reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "row by row":
        read_row_by_row(monkeypatch)


async def answer_all(folder: Path) -> dict[str, SearchAnswer | ReadAnswer | str]:
    """Answers to searches and reads, each with nothing cached; of a failure its code."""
    found: dict[str, SearchAnswer | ReadAnswer | str] = {}
    for mode in MODES:
        request = SearchRequest("reset the router", mode=mode)
        found[mode] = await answer(folder, request)
    for path in PATHS:
        read = ReadRequest(item(ANA, "notes", path), limit=100_000)
        found[path] = await answer(folder, read)
    return found


async def answer(folder: Path, request: SearchRequest | ReadRequest) -> SearchAnswer | ReadAnswer | str:
    async with open_service(Location(str(folder))) as service, asyncio.timeout(SECONDS):
        try:
            if isinstance(request, ReadRequest):
                return await service.read([ANA], request)
            return await service.search([ANA], request)
        except (StorageUnavailableError, DatasetMismatchError) as error:
            return error.code
        except KnowledgeError as error:
            return f"wrong: {error.code}"


def find_wrong(found: object, right: SearchAnswer | ReadAnswer) -> str:
    """What is wrong with an answer that is not a refusal; empty where nothing is."""
    if isinstance(found, str):
        return found if found.startswith("wrong") else ""
    if isinstance(right, ReadAnswer):
        return "" if found == right else f"{found}"
    assert isinstance(found, SearchAnswer)
    known = {hit.revision.revision_id: hit.revision for hit in right.hits}
    hits = {hit.revision.revision_id: hit.revision for hit in found.hits}
    return "" if hits.items() <= known.items() else f"{hits}"


def list_files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("_way_of_reading")
@pytest.mark.parametrize("damage", DAMAGES)
def test_an_answer_of_a_damaged_dataset_is_right_or_a_refusal(intact: Path, tmp_path: Path, damage: str) -> None:
    right = asyncio.run(answer_all(intact))
    folder = tmp_path / "data"
    shutil.copytree(intact, folder)
    step = choose_trials(12, 1)
    wrong = {}
    for name in list_files(intact)[list(DAMAGES).index(damage) % step :: step]:
        data = (intact / name).read_bytes()
        changed = DAMAGES[damage](data)
        if changed is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(changed)
        found = asyncio.run(answer_all(folder))
        for what, expected in right.items():
            assert not isinstance(expected, str)
            if fault := find_wrong(found[what], expected):
                wrong[f"{name} {what}"] = fault
        (folder / name).write_bytes(data)
    assert wrong == {}
