"""Rewrite the `__init__` of packages that import all their modules, so that each name is imported when it is used.

Only these front modules are rewritten, at build time, and every name in them stays the real one: see `lazy_imports`.
A front module of another form than expected stays as it is, which costs time and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

FRONTS: Final[Mapping[str, str]] = {
    # A client of LanceDB's servers: 300 modules of pydantic models, half of a cold start, never used on S3.
    "lance_namespace_urllib3_client/__init__.py": "lance_namespace_urllib3_client",
    "lance_namespace_urllib3_client/api/__init__.py": "lance_namespace_urllib3_client",
    "lance_namespace_urllib3_client/models/__init__.py": "lance_namespace_urllib3_client",
    "lance_namespace/__init__.py": "lance_namespace_urllib3_client",
    # The SDK's clients, and its high-level server with an encryption library; the function uses the low-level one.
    "mcp/__init__.py": "mcp",
    "mcp/server/__init__.py": "mcp",
}
"""Front modules in the layer, and the package whose imports they defer."""

_END: Final = """

from lazy_imports import defer_imports as _defer_imports

__getattr__ = _defer_imports(__name__, {sources!r})
"""


class UnexpectedError(ValueError):
    """A front module cannot be rewritten, because it uses a name that it would defer; the message says which."""


def make_lazy(site: Path, fronts: Mapping[str, str] = FRONTS) -> list[str]:
    """Rewrite the front modules; return a line for each that could not be."""
    kept = []
    for path, package in fronts.items():
        try:
            text = (site / path).read_text(encoding="utf-8")
            (site / path).write_text(
                rewrite_front(text, path.removesuffix("/__init__.py").replace("/", "."), package), "utf-8"
            )
        except (OSError, UnexpectedError) as error:
            kept.append(f"{path} stays as it is: {error}")
    return kept


def rewrite_front(text: str, name: str, package: str) -> str:
    """Return the source of module `name` with its imports from `package` deferred; raises `UnexpectedError`."""
    tree = ast.parse(text)
    sources: dict[str, tuple[str, str]] = {}
    deferred = [node for node in tree.body if _collect(node, name, package, sources)]
    if not sources:
        raise UnexpectedError(f"it imports nothing from {package}")
    if used := sorted(_find_used_names(tree, deferred) & set(sources)):
        raise UnexpectedError(f"it uses {', '.join(used)}")
    lines = text.splitlines()
    for node in deferred:
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    # Annotations may use deferred names.
    lines.insert(_find_docstring_end(tree), "from __future__ import annotations")
    return "\n".join(lines) + _END.format(sources=sources)


def _collect(node: ast.stmt, name: str, package: str, sources: dict[str, tuple[str, str]]) -> bool:
    """Whether a statement only binds names that can be deferred; they are added to `sources`."""
    if isinstance(node, ast.ImportFrom):
        module = ".".join(filter(None, (name if node.level else "", node.module)))
        if node.level <= 1 and module.startswith(f"{package}."):
            sources.update({alias.asname or alias.name: (module, alias.name) for alias in node.names})
            return True
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in sources:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        sources.update(dict.fromkeys(names, sources[node.value.id]))
        return len(names) == len(node.targets)
    return False


def _find_used_names(tree: ast.Module, deferred: list[ast.stmt]) -> set[str]:
    """Return the names that the module's remaining code uses, except in annotations."""
    left_out = {id(part) for node in [*deferred, *_list_annotations(tree)] for part in ast.walk(node)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in left_out}


def _list_annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        found = (getattr(node, "annotation", None), getattr(node, "returns", None))
        yield from (one for one in found if isinstance(one, ast.expr))


def _find_docstring_end(tree: ast.Module) -> int:
    """Return the number of lines up to the end of the docstring."""
    has_one = tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    return (tree.body[0].end_lineno or 0) if has_one else 0
