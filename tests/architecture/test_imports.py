"""Imports run one way, few modules touch the outside, and only the composition roots read the environment."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from typing import Final

from tests.architecture.source import Module, imported_names, module, own_modules, top

# Who may import whom among the project's own packages, a whole package or single modules of one. Server and publisher
# never meet, and only the local gateway, which plays both the cloud's part and its client's, stands above them.
ALLOWED: Final = {
    "knowledge": {"knowledge"},
    "search_knowledge": {"search_knowledge", "knowledge", "native_loader"},
    "authorizer": {"authorizer", "knowledge.claims", "knowledge.text"},
    "publish_knowledge": {"publish_knowledge", "knowledge"},
    "lazy_imports": set(),
    "native_loader": set(),
    "engine_build": {"engine_build"},
    "local_s3": {"local_s3"},
    "lambda_emulator": {"lambda_emulator", "local_gateway", "local_s3", "engine_build"},
    "local_gateway": {"local_gateway", "search_knowledge", "publish_knowledge", "knowledge"},
}
# Inside a package the same: what stands further left imports nothing of what stands further right.
ORDER: Final = {
    "knowledge": ("embedding", "store", "search"),
    "publish_knowledge": ("conversion", "passages", "sources", "embedding", "store", "publishing", "evaluation", "cli"),
}
LANCEDB_IMPORTERS: Final = {"knowledge.store.lance", "publish_knowledge.store.database"}
# The foundation of the core library: each of these imports from `knowledge` only what stands before it.
FOUNDATION: Final = ("knowledge.errors", "knowledge.scopes", "knowledge.store.schema")
PURE: Final = {*FOUNDATION, "knowledge.search.fusion"}
OUTSIDE: Final = {
    *("asyncio", "boto3", "botocore", "ctypes", "http", "io", "lance", "lancedb", "multiprocessing", "os", "pathlib"),
    *("requests", "shutil", "socket", "sqlite3", "subprocess", "tempfile", "threading", "urllib3"),
}
ROOTS: Final = {
    *("search_knowledge.app", "search_knowledge.settings", "authorizer.app"),
    *("publish_knowledge.cli.main", "lambda_emulator.__main__"),
    "native_loader",  # hands it on whole, to a process that unpacks
}
ENVIRONMENT: Final = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}


def unknown_packages(modules: Iterable[Module]) -> list[str]:
    return sorted({top(one.name) for one in modules} - set(ALLOWED))


def upward_imports(modules: Iterable[Module]) -> list[str]:
    return [
        f"{one.name} imports {name}"
        for one in modules
        for name in sorted(imported_names(one))
        if top(name) in ALLOWED and not _is_allowed(name, ALLOWED.get(top(one.name), set()))
    ]


def _is_allowed(name: str, allowed: Iterable[str]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in allowed)


def backward_imports(modules: Iterable[Module]) -> list[str]:
    """Imports against the order of a package's parts."""
    return [
        f"{one.name} imports {name}"
        for one in modules
        for name in sorted(imported_names(one))
        if _part(one.name) is not None and (_part(name) or 0) > (_part(one.name) or 0) and top(name) == top(one.name)
    ]


def _part(name: str) -> int | None:
    package, _, below = name.partition(".")
    order = ORDER.get(package, ())
    return order.index(top(below)) if top(below) in order else None


def lancedb_importers(modules: Iterable[Module]) -> list[str]:
    return [
        one.name
        for one in modules
        if one.name not in LANCEDB_IMPORTERS and {"lance", "lancedb"} & set(map(top, imported_names(one)))
    ]


def impure_modules(modules: Iterable[Module]) -> list[str]:
    return [one.name for one in modules if one.name in PURE and (_reaches_outside(one) or _calls_open(one))]


def foundation_out_of_order(modules: Iterable[Module]) -> list[str]:
    known = {one.name: one for one in modules}
    return [
        f"{name} imports {other}"
        for position, name in enumerate(FOUNDATION)
        if name in known
        for other in sorted(
            imported_names(known[name]) & (set(known) - set(FOUNDATION[:position]) - {"knowledge", "knowledge.store"})
        )
    ]


def import_cycle(modules: Iterable[Module]) -> list[str]:
    known = {one.name: one for one in modules}
    graph = {name: _edges(one, set(known)) for name, one in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def environment_readers(modules: Iterable[Module]) -> list[str]:
    return [
        one.name
        for one in modules
        if one.name not in ROOTS and top(one.name) != "local_gateway" and _reads_environment(one)
    ]


def _reaches_outside(one: Module) -> bool:
    names = imported_names(one)
    return bool(OUTSIDE & set(map(top, names))) or not names.isdisjoint(LANCEDB_IMPORTERS | {"urllib.request"})


def _calls_open(one: Module) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
        for node in ast.walk(one.tree)
    )


def _edges(one: Module, known: set[str]) -> set[str]:
    names = imported_names(one) & known
    # `from package import module` needs the module; the package itself is a plain name on the way to it.
    return {name for name in names if not any(other.startswith(f"{name}.") for other in names)} - {one.name}


def _reads_environment(one: Module) -> bool:
    return not imported_names(one).isdisjoint({f"os.{name}" for name in ENVIRONMENT}) or any(
        isinstance(node, ast.Attribute)
        and node.attr in ENVIRONMENT
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        for node in ast.walk(one.tree)
    )


def test_every_package_has_its_allowed_imports() -> None:
    assert unknown_packages(own_modules()) == []


def test_a_package_without_allowed_imports_is_caught() -> None:
    assert unknown_packages([module("helpers.text", "")]) == ["helpers"]


def test_imports_run_one_way() -> None:
    assert upward_imports(own_modules()) == []


def test_an_upward_import_is_caught_wherever_it_hides() -> None:
    core = module("knowledge.search.search", "def late():\n    import search_knowledge.app\n")
    publisher = module("publish_knowledge.publishing.plan", "from search_knowledge import tool\n")
    fine = module("local_gateway.demo", "import publish_knowledge, search_knowledge.app\n")
    copied = module("authorizer.claims", "from knowledge.claims import read_owner\n")
    assert upward_imports([module("authorizer.app", "import knowledge.scopes\n")]) == [
        "authorizer.app imports knowledge.scopes"
    ]
    assert upward_imports([core, publisher, fine, copied]) == [
        "knowledge.search.search imports search_knowledge.app",
        "publish_knowledge.publishing.plan imports search_knowledge",
        "publish_knowledge.publishing.plan imports search_knowledge.tool",
    ]


def test_the_parts_of_a_package_import_one_way() -> None:
    assert backward_imports(own_modules()) == []


def test_an_import_against_the_order_of_the_parts_is_caught() -> None:
    store = module("knowledge.store.snapshot", "from knowledge.search.fusion import fuse\n")
    publisher = module("publish_knowledge.store.marker", "from publish_knowledge.publishing import plan\n")
    fine = module("knowledge.search.search", "from knowledge.store.snapshot import Snapshot\n")
    assert backward_imports([store, publisher, fine]) == [
        "knowledge.store.snapshot imports knowledge.search.fusion",
        "knowledge.store.snapshot imports knowledge.search.fusion.fuse",
        "publish_knowledge.store.marker imports publish_knowledge.publishing",
        "publish_knowledge.store.marker imports publish_knowledge.publishing.plan",
    ]


def test_lancedb_is_imported_in_one_module_of_each_side() -> None:
    assert lancedb_importers(own_modules()) == []


def test_another_importer_of_lancedb_is_caught() -> None:
    allowed = module("knowledge.store.lance", "import lancedb\n")
    other = module("search_knowledge.tool", "from lancedb.table import Table\n")
    assert lancedb_importers([allowed, other]) == ["search_knowledge.tool"]


def test_the_pure_modules_open_nothing() -> None:
    assert impure_modules(own_modules()) == []


def test_a_pure_module_that_opens_something_is_caught() -> None:
    opens = module("knowledge.search.fusion", "def weights():\n    return open('weights')\n")
    reaches = module("knowledge.store.schema", "from knowledge.store import lance\n")
    reads = module("knowledge.scopes", "from pathlib import Path\n")
    fine = module("knowledge.errors", "from dataclasses import dataclass\n")
    assert impure_modules([opens, reaches, reads, fine]) == [
        "knowledge.search.fusion",
        "knowledge.store.schema",
        "knowledge.scopes",
    ]


def test_the_foundation_of_the_core_library_is_in_order() -> None:
    assert foundation_out_of_order(own_modules()) == []


def test_foundation_out_of_order_is_caught() -> None:
    errors = module("knowledge.errors", "from knowledge.store.schema import KINDS\n")
    schema = module("knowledge.store.schema", "from .. import errors, scopes\n")
    scopes = module("knowledge.scopes", "from knowledge.errors import KnowledgeError\n")
    assert foundation_out_of_order([errors, schema, scopes]) == ["knowledge.errors imports knowledge.store.schema"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert import_cycle(own_modules()) == []


def test_a_circle_of_imports_is_caught() -> None:
    one = module("knowledge.search.search", "from knowledge import reading\n")
    two = module("knowledge.reading", "from .search.search import find\n")
    package = module("knowledge", "", is_package=True)
    assert set(import_cycle([package, one, two])) == {"knowledge.search.search", "knowledge.reading"}


def test_only_the_composition_roots_read_the_environment() -> None:
    assert environment_readers(own_modules()) == []


def test_a_reader_of_the_environment_is_caught() -> None:
    attribute = module("knowledge.embedding.providers", "import os\nTHREADS = os.environ.get('THREADS')\n")
    name = module("search_knowledge.tool", "from os import getenv\n")
    root = module("publish_knowledge.cli.main", "import os\nURI = os.environ['URI']\n")
    assert environment_readers([attribute, name, root]) == ["knowledge.embedding.providers", "search_knowledge.tool"]
