"""Import the names of a package when they are first used (PEP 562), instead of all at once.

Some packages import hundreds of modules in their `__init__`, of which few are used here. The build replaces those
imports with

    from lazy_imports import defer_imports
    __getattr__ = defer_imports(__name__, {"Name": ("package.module", "Name")})

at the end of the module. Every name stays the real one: the first access does the import that was left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def defer_imports(package: str, sources: Mapping[str, tuple[str, str]]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package.

    `sources` gives, by name, the module that has it and its name there. Submodules are found as well.
    """

    def find(name: str) -> object:
        if name in sources:
            module, attribute = sources[name]
            value = getattr(import_module(module), attribute)
        else:
            value = _import_submodule(package, name)
        # The next access finds it without `__getattr__`.
        setattr(sys.modules[package], name, value)
        return value

    return find


def _import_submodule(package: str, name: str) -> object:
    """Import a submodule that the deferred imports would have bound; raises `AttributeError` where there is none."""
    missing = AttributeError(f"module {package!r} has no attribute {name!r}")
    if name.startswith("_"):  # the import system and libraries that inspect modules look up many of these
        raise missing
    try:
        return import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"{package}.{name}":
            raise missing from None
        raise
