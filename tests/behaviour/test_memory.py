"""Memory is bounded: a call leaves no object behind, and every cache has a limit."""

from __future__ import annotations

import gc
import importlib
import time
from functools import _lru_cache_wrapper
from pathlib import Path

from knowledge.embedding.providers import LOCAL_SMALL
from knowledge.requests import MODES
from knowledge.store.lance import INDEX_CACHE_BYTES, METADATA_CACHE_BYTES
from search_knowledge.app import Handler
from tests.architecture.source import own_modules
from tests.support.calls import Context, Json, request, rest_event, stateless, switched_on, tool_call
from tests.support.datasets import SUPPORT, build, item

LOOKS, PAUSE_SECONDS = 3, 0.1
FUNCTION = ("knowledge.", "search_knowledge.")
TEXTS = {
    f"{number}.md": f"# Pump {number}\n\nOpen the valve {number} of the pump. " + "Wait. " * 300 for number in range(30)
}


def make_events() -> list[Json]:
    """One event of every kind."""
    pump = item(SUPPORT, "manuals", "1.md")
    calls: list[Json] = [
        *({"query": "valve of the pump", "mode": mode} for mode in MODES),
        {"query": "pump", "knowledge_base_id": "manuals"},
        {"query": "pump", "knowledge_base_id": "elsewhere"},
        {"knowledge_item_id": pump},
        {"knowledge_item_id": pump, "offset": 1_200, "limit_chars": 100},
        {"knowledge_item_id": "ki_none"},
        {"query": ""},
        {"query": 7},
    ]
    message, headers = stateless(request("tools/list"))
    others = [rest_event(request("tools/list")), rest_event(message, headers=headers), rest_event("["), {"no": "event"}]
    return [*(rest_event(tool_call(arguments)) for arguments in calls), *others]


def count_objects(handler: Handler, events: list[Json], rounds: int) -> int:
    """Count all objects after so many rounds."""
    for _ in range(rounds):
        for event in events:
            handler(event, Context())
    return min(map(count_after_pause, range(LOOKS)))


def count_after_pause(_look: int) -> int:
    """Count once more: tasks in the background may hold frames and futures for a moment after a call."""
    time.sleep(PAUSE_SECONDS)
    gc.collect()
    return len(gc.get_objects())


def test_a_call_leaves_no_object_behind(tmp_path: Path) -> None:
    where = build(str(tmp_path), {(SUPPORT, "manuals"): TEXTS})
    events = make_events()
    with switched_on(where.uri, embedding=LOCAL_SMALL) as handler:
        first, second, third = (count_objects(handler, events, rounds) for rounds in (3, 15, 15))
    # Even one object for each call of one kind would be 15, in both. A thread that a pool has started late is in one.
    assert min(second - first, third - second) < 15


def find_unbounded_caches(names: list[str]) -> list[str]:
    """Find caches of functions that have no limit."""
    modules = [importlib.import_module(name) for name in names]
    cached = [(module.__name__, found) for module in modules for found in vars(module).values() if is_cache(found)]
    return [f"{name}.{found.__name__}" for name, found in cached if found.cache_parameters()["maxsize"] is None]


def is_cache(found: object) -> bool:
    return isinstance(found, _lru_cache_wrapper)


def test_every_cache_of_the_function_has_a_bound() -> None:
    names = [one.name for one in own_modules() if one.name.startswith(FUNCTION) and not one.name.endswith(".app")]
    assert find_unbounded_caches(names) == []


def test_what_the_engine_may_keep_is_bounded_far_below_the_function_s_memory() -> None:
    assert 0 < INDEX_CACHE_BYTES + METADATA_CACHE_BYTES <= 512 * 1024 * 1024


def test_a_cache_without_a_bound_is_caught() -> None:
    assert "publish_knowledge.sources.languages._load_identifier" in find_unbounded_caches(
        ["publish_knowledge.sources.languages"]
    )
