"""Packages whose front module imports all they have, though few of it is used here, import each name when asked for.

Only the front modules are rewritten, at build time, and every name in them stays the real one: see `lazy_imports`.
A front module that does not look as expected stays as it is, which costs time and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

FRONTS: Final[Mapping[str, str]] = {
    # A client of LanceDB's servers: 300 modules of pydantic models, half of a cold start, and never used on S3.
    "lance_namespace_urllib3_client/__init__.py": "lance_namespace_urllib3_client",
    "lance_namespace_urllib3_client/api/__init__.py": "lance_namespace_urllib3_client",
    "lance_namespace_urllib3_client/models/__init__.py": "lance_namespace_urllib3_client",
    "lance_namespace/__init__.py": "lance_namespace_urllib3_client",
    # The SDK's clients, and its upper server with an encryption library; the function has the lower server only.
    "mcp/__init__.py": "mcp",
    "mcp/server/__init__.py": "mcp",
}
"""Front modules in the layer, and the package whose modules they import later."""

_END: Final = """

from lazy_imports import put_off as _put_off

__getattr__ = _put_off(__name__, {sources!r})
"""


class UnexpectedError(ValueError):
    """A front module uses by itself what it should import later; the message names it."""


def make_lazy(site: Path, fronts: Mapping[str, str] = FRONTS) -> list[str]:
    """Rewrite the front modules; one line for each that could not be."""
    kept = []
    for path, package in fronts.items():
        try:
            text = (site / path).read_text(encoding="utf-8")
            (site / path).write_text(lazy(text, path.removesuffix("/__init__.py").replace("/", "."), package), "utf-8")
        except (OSError, UnexpectedError) as error:
            kept.append(f"{path} stays as it is: {error}")
    return kept


def lazy(text: str, name: str, package: str) -> str:
    """The text of module `name`, whose imports from below `package` wait; raises `UnexpectedError`."""
    tree = ast.parse(text)
    sources: dict[str, tuple[str, str]] = {}
    waiting = [node for node in tree.body if _collect(node, name, package, sources)]
    if not sources:
        raise UnexpectedError(f"it imports nothing from {package}")
    if used := sorted(_find_used_names(tree, waiting) & set(sources)):
        raise UnexpectedError(f"it uses {', '.join(used)}")
    lines = text.splitlines()
    for node in waiting:
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    # Annotations may name what is not there yet.
    lines.insert(_after_docstring(tree), "from __future__ import annotations")
    return "\n".join(lines) + _END.format(sources=sources)


def _collect(node: ast.stmt, name: str, package: str, sources: dict[str, tuple[str, str]]) -> bool:
    """Whether a statement only gives names that can wait; they are added to the sources."""
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


def _find_used_names(tree: ast.Module, waiting: list[ast.stmt]) -> set[str]:
    """Names that the module's own code looks up, its annotations aside."""
    left_out = {id(part) for node in [*waiting, *_annotations(tree)] for part in ast.walk(node)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in left_out}


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        found = (getattr(node, "annotation", None), getattr(node, "returns", None))
        yield from (one for one in found if isinstance(one, ast.expr))


def _after_docstring(tree: ast.Module) -> int:
    """Number of lines before the first statement that is not the docstring."""
    has_one = tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    return (tree.body[0].end_lineno or 0) if has_one else 0
