"""Import what a package offers when it is asked for, instead of all at once.

The build ends the front module of a package that imports hundreds of modules, few of which are used here, with

    from lazy_imports import put_off
    __getattr__ = put_off(__name__, {"Name": ("package.module", "Name")})

in the place of its imports. Every name stays what it was: the first look at it does the import that was left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def put_off(package: str, sources: Mapping[str, tuple[str, str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package: names by module and name there; its submodules are found besides."""

    def find(name: str) -> object:
        if name in sources:
            module, attribute = sources[name]
            value = getattr(import_module(module), attribute)
        else:
            value = _submodule(package, name)
        # From now on it is found without asking.
        setattr(sys.modules[package], name, value)
        return value

    return find


def _submodule(package: str, name: str) -> object:
    """A module that the imports left out would have bound to its package; raises `AttributeError` for none."""
    missing = AttributeError(f"module {package!r} has no attribute {name!r}")
    if name.startswith("_"):  # the import system and inspecting libraries ask every module for many of these
        raise missing
    try:
        return import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"{package}.{name}":
            raise missing from None
        raise
