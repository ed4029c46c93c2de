"""Compress the big native libraries, and replace each extension module among them by a stub.

`native_loader` unpacks them. Their content stays as it is: they are neither stripped nor patched.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from backports import zstd

from engine_build.files import BuildError, list_files

OPTIONS: Final[Mapping[int, int]] = {
    # 66 MB for LanceDB's library at level 3, 57 at 12, 50 at 19, which takes minutes.
    zstd.CompressionParameter.compression_level: 12,
    # 53 MB instead of 57, for 32 MB of memory while unpacking; a window of 128 MB would save 0.4 MB more.
    zstd.CompressionParameter.enable_long_distance_matching: 1,
    zstd.CompressionParameter.window_log: 25,
    zstd.CompressionParameter.checksum_flag: 1,
}
WORKERS: Final = 2
CHUNK_BYTES: Final = 4 * 1024 * 1024
MANIFEST: Final = "native_loader.json"
STUB: Final = '"""In place of a packed library."""\n\nfrom native_loader import load\n\nload(__name__)\n'


@dataclass(frozen=True, slots=True)
class Pack:
    """An extension module to pack, and the shared libraries that must lie beside it when it is loaded.

    A shared library is packed with the first extension that loads it.
    """

    module: str
    file: str
    libraries: tuple[str, ...] = ()
    ahead: bool = True
    """Whether every start needs it, so that it is worth unpacking before it is imported."""


PACKS: Final = (
    Pack("numpy._core._multiarray_umath", "numpy/_core/_multiarray_umath.*.so", ("numpy.libs/*.so*",)),
    Pack("pyarrow.lib", "pyarrow/lib.cpython-*.so", ("pyarrow/lib*.so.*",)),
    Pack("lancedb._lancedb", "lancedb/_lancedb.abi3.so"),
    Pack("obstore._obstore", "obstore/_obstore.abi3.so", ahead=False),
    Pack("cryptography.hazmat.bindings._rust", "cryptography/hazmat/bindings/_rust.abi3.so", ahead=False),
)
"""In the order in which a start needs them."""


def pack(site: Path, architecture: str, python: str, packs: Sequence[Pack] = PACKS) -> None:
    """Replace the packed files below `site` by archives, stubs and the manifest; raises `BuildError`."""
    paths = list_files(site)
    files_of = {one.module: _find_files(one, paths) for one in packs}
    packed = [path for files in files_of.values() for path in files]
    manifest = {
        "architecture": architecture,
        "python": python,
        "bytes_of": {path: (site / path).stat().st_size for path in packed},
        "files_of": files_of,
        "ahead": [one.module for one in packs if one.ahead],
        "digest": _compress_all([site / path for path in packed]),
    }
    (site / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    for module in files_of:
        (site / f"{module.replace('.', '/')}.py").write_text(STUB, encoding="utf-8")


def _find_files(one: Pack, paths: list[str]) -> list[str]:
    """Return the files of one pack, the extension first; raises `BuildError`."""
    own = [path for path in paths if fnmatchcase(path, one.file)]
    libraries = [[path for path in paths if fnmatchcase(path, pattern)] for pattern in one.libraries]
    if len(own) != 1 or not all(libraries):
        raise BuildError(f"{one.module} is not where it was: the library has changed, see pack.py")
    return own + [path for found in libraries for path in found]


def _compress_all(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    with ThreadPoolExecutor(WORKERS) as pool:  # the compressor releases the GIL
        for part in pool.map(_compress, files):
            digest.update(part)
    return digest.hexdigest()


def _compress(path: Path) -> bytes:
    """Replace a file by its archive and return the digest of its content."""
    digest = hashlib.sha256()
    with path.open("rb") as library, zstd.open(path.with_name(f"{path.name}.zst"), "wb", options=OPTIONS) as archive:
        while chunk := library.read(CHUNK_BYTES):
            digest.update(chunk)
            archive.write(chunk)
    path.unlink()
    return digest.digest()
