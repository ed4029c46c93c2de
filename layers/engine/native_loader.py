"""Load the engine's big native libraries, which are shipped compressed because Lambda limits a layer's unpacked bytes.

The build replaces each packed extension module by a stub of two lines, so that nothing has to be imported first:

    from native_loader import load
    load(__name__)

`load` unpacks the extension and the shared libraries packed with it into the temporary folder. Their relative paths
stay, because the extension looks for its libraries by them; other extensions find a library by name once it is loaded.
Unpacking happens once in an execution environment; with SnapStart, once before the snapshot.

A function that calls `start_unpacking` first has a second process unpack while it imports what needs nothing packed.
`load` then waits for the files, and unpacks itself what does not appear in time, as it does without `start_unpacking`.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import platform
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import IO, Any, Final

MANIFEST: Final = Path(__file__).with_name("native_loader.json")
MACHINES: Final = {"x86_64": "x86_64", "arm64": "aarch64"}
CHUNK_BYTES: Final = 256 * 1024
"""Written at once while unpacking. Chunks of 4 MB take 1.5 times as long, because they exceed the processor's cache."""
HELPER_SECONDS: Final = 4.0
"""How long to wait for the second process before unpacking here: several times what it usually takes."""
LOOK_SECONDS: Final = 0.002
"""Between two checks for a file."""
HELP: Final = "import native_loader; native_loader.unpack_ahead()"


class EngineError(RuntimeError):
    """The engine layer cannot be used here; the message says why.

    Not an `ImportError`: libraries catch those for optional parts, and the fault would show later and elsewhere.
    """


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the build packed, for which platform, and where it is unpacked."""

    digest: str
    architecture: str
    python: str
    bytes_of: dict[str, int]
    """Unpacked size of each packed file, by its path in the layer."""
    files_of: dict[str, list[str]]
    """Packed files that each extension module needs, its own first."""
    ahead: list[str]
    """Modules whose files the second process unpacks, in this order."""

    @property
    def folder(self) -> Path:
        """A folder of its own for each build and user: temporary folders may be shared, and outlive a deployment."""
        return Path(tempfile.gettempdir()) / f"engine-{self.digest[:16]}-{os.getuid()}"


@dataclass(slots=True)
class Helper:
    """The process that unpacks."""

    process: int
    until: float
    ended: bool = False

    def is_running(self) -> bool:
        """Whether it may still write files; a process that has ended is reaped."""
        if not self.ended:
            try:
                self.ended = os.waitpid(self.process, os.WNOHANG) != (0, 0)
            except ChildProcessError:
                self.ended = True
        return not self.ended and time.monotonic() < self.until


_helpers: Final[list[Helper]] = []


def start_unpacking() -> None:
    """Start a second process that unpacks what will be loaded, unless all is unpacked; never fails."""
    with suppress(EngineError, OSError):
        if MANIFEST.is_file() and not _helpers and not _is_all_unpacked(_read_manifest(MANIFEST)):
            command = [sys.executable, "-S", "-s", "-c", HELP]
            path = os.pathsep.join([str(MANIFEST.parent), *sys.path])
            process = os.posix_spawn(command[0], command, {**os.environ, "PYTHONPATH": path})
            _helpers.append(Helper(process, time.monotonic() + HELPER_SECONDS))


def unpack_ahead() -> None:
    """Unpack what the manifest lists, in the second process. It reports no fault: the first process meets the same."""
    with suppress(EngineError):
        manifest = _read_manifest(MANIFEST)
        for module in manifest.ahead:
            for path in manifest.files_of[module]:
                unpack(manifest, path)


def load(name: str) -> None:
    """Replace the stub of an extension module by the module itself; raises `EngineError`."""
    manifest = _read_manifest(MANIFEST)
    own, *_libraries = [unpack(manifest, path) for path in manifest.files_of[name]]
    loader = ExtensionFileLoader(name, str(own))
    spec = importlib.util.spec_from_file_location(name, own, loader=loader)
    if spec is None:
        raise EngineError(f"{own} is not an extension module of this Python")
    # The import system returns what it finds under the name once the stub has run.
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)


def unpack(manifest: Manifest, path: str) -> Path:
    """Unpack one file unless it is there; safe while other processes do the same; raises `EngineError`."""
    target = _ensure_private_folder(manifest.folder) / path
    size = manifest.bytes_of[path]
    while not _is_unpacked(target, size) and any(helper.is_running() for helper in _helpers):
        time.sleep(LOOK_SECONDS)
    if not _is_unpacked(target, size):
        _write_unpacked(MANIFEST.parent / f"{path}.zst", target, size)
    return target


def _is_all_unpacked(manifest: Manifest) -> bool:
    paths = (path for module in manifest.ahead for path in manifest.files_of[module])
    return all(_is_unpacked(manifest.folder / path, manifest.bytes_of[path]) for path in paths)


def _is_unpacked(target: Path, size: int) -> bool:
    return target.is_file() and target.stat().st_size == size


@cache
def _read_manifest(path: Path) -> Manifest:
    try:
        manifest = Manifest(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise EngineError(f"the engine layer is incomplete: {path} cannot be read ({error})") from error
    _check_platform(manifest)
    return manifest


def _check_platform(manifest: Manifest) -> None:
    here = f"{platform.machine()}, Python {sys.version_info[0]}.{sys.version_info[1]}"
    made_for = f"{MACHINES[manifest.architecture]}, Python {manifest.python}"
    if here != made_for:
        raise EngineError(
            f"the engine layer was built for {made_for}, but this is {here}: build it with the right ARCH"
        )


def _ensure_private_folder(folder: Path) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise EngineError(f"{folder} can be changed by somebody else, and code is loaded from it: remove it")
    return folder


def _write_unpacked(archive: Path, target: Path, size: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")
    part = Path(name)
    try:
        with open(descriptor, "wb") as output:  # noqa: PTH123 - `Path` opens no descriptors
            _decompress(archive, output)
        _check_size(part, archive, size)
        # Atomic: another process sees no file or a complete one.
        part.replace(target)
    except OSError as error:
        raise EngineError(describe_storage_error(error, target, size)) from error
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _decompress(archive: Path, output: IO[Any]) -> None:
    from backports import zstd  # noqa: PLC0415 - only a process that has to unpack pays for it

    try:
        with zstd.open(archive, "rb") as packed:
            while chunk := packed.read(CHUNK_BYTES):
                output.write(chunk)
    except (zstd.ZstdError, EOFError) as error:  # each frame ends with a checksum of its content
        raise EngineError(f"{archive} is damaged ({error}): build and deploy the engine layer again") from error


def _check_size(part: Path, archive: Path, size: int) -> None:
    found = part.stat().st_size
    if found != size:
        raise EngineError(f"{archive} holds {found} bytes instead of {size}: build and deploy the engine layer again")


def describe_storage_error(error: OSError, target: Path, size: int) -> str:
    """Return why a file could not be written, with the remedy where there is one."""
    if error.errno == errno.ENOSPC:
        return (
            f"{target.parent} has no room for the {size} bytes of {target.name}: raise the function's EphemeralStorage"
        )
    return f"{target.name} cannot be unpacked into {target.parent}: {error}"
