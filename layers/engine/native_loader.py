"""Load the engine's big native libraries, which travel compressed because Lambda limits a layer's unpacked bytes.

The build puts a stub of two lines in each packed extension's place, so that nothing has to be imported first:

    from native_loader import load
    load(__name__)

`load` unpacks the extension and the shared libraries packed with it into the temporary folder, keeping their places
relative to each other, because that is where the extension looks for them. What is left of the layer finds them by
name, as they are loaded by then. It happens once in an execution environment: with SnapStart, once before the snapshot.

A function that calls `begin` first has a second process unpack, while it imports what needs nothing packed. `load` then
waits for the files; what does not come in time it unpacks itself, as it does without `begin`.
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
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import IO, Any, Final

MANIFEST: Final = Path(__file__).with_name("native_loader.json")
MACHINES: Final = {"x86_64": "x86_64", "arm64": "aarch64"}
CHUNK_BYTES: Final = 256 * 1024
"""Written at once while unpacking: 4 MB take half as long again, because they pass the processor's cache."""
HELPER_SECONDS: Final = 4.0
"""What the second process may take, several times its usual time, before this one does the work itself."""
LOOK_SECONDS: Final = 0.002
"""Between two looks for a file."""
HELP: Final = "import native_loader; native_loader.unpack_ahead()"


class EngineError(RuntimeError):
    """The engine layer cannot be used here; the message says why.

    Not an `ImportError`: libraries catch those to leave a part of themselves out, and the fault would show up
    later and elsewhere.
    """


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the build packed, for whom, and where it is unpacked."""

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
        """A name of its own for each build and user, as temporary folders may be shared and outlive a deployment."""
        return Path(tempfile.gettempdir()) / f"engine-{self.digest[:16]}-{os.getuid()}"


@dataclass(slots=True)
class Helper:
    """The process that unpacks."""

    process: int
    until: float
    ended: bool = False

    def is_at_work(self) -> bool:
        """Whether a file may still come from it; one that has ended is taken off the system's list."""
        if not self.ended:
            try:
                self.ended = os.waitpid(self.process, os.WNOHANG) != (0, 0)
            except ChildProcessError:
                self.ended = True
        return not self.ended and time.monotonic() < self.until


_helpers: Final[list[Helper]] = []


def begin() -> None:
    """Have a second process unpack what will be loaded; never fails, and does nothing where all is there."""
    with suppress(EngineError, OSError):
        if MANIFEST.is_file() and not _helpers and not all(_is_there(*one) for one in _ahead(_manifest(MANIFEST))):
            command = [sys.executable, "-S", "-s", "-c", HELP]
            path = os.pathsep.join([str(MANIFEST.parent), *sys.path])
            process = os.posix_spawn(command[0], command, {**os.environ, "PYTHONPATH": path})
            _helpers.append(Helper(process, time.monotonic() + HELPER_SECONDS))


def unpack_ahead() -> None:
    """What the second process does; it says nothing, as the first one meets the same fault."""
    with suppress(EngineError):
        manifest = _manifest(MANIFEST)
        for module in manifest.ahead:
            for path in manifest.files_of[module]:
                unpack(manifest, path)


def load(name: str) -> None:
    """Put the packed extension module `name` in its stub's place; raises `EngineError`."""
    manifest = _manifest(MANIFEST)
    own, *_libraries = [unpack(manifest, path) for path in manifest.files_of[name]]
    loader = ExtensionFileLoader(name, str(own))
    spec = importlib.util.spec_from_file_location(name, own, loader=loader)
    if spec is None:
        raise EngineError(f"{own} is not an extension module of this Python")
    # The import system takes what it finds under the name once the stub has run.
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)


def unpack(manifest: Manifest, path: str) -> Path:
    """Unpack one file unless that is done; safe beside other processes doing the same; raises `EngineError`."""
    target = _private_folder(manifest.folder) / path
    size = manifest.bytes_of[path]
    while not _is_there(target, size) and any(helper.is_at_work() for helper in _helpers):
        time.sleep(LOOK_SECONDS)
    if not _is_there(target, size):
        _unpack(MANIFEST.parent / f"{path}.zst", target, size)
    return target


def _ahead(manifest: Manifest) -> Iterator[tuple[Path, int]]:
    for module in manifest.ahead:
        for path in manifest.files_of[module]:
            yield manifest.folder / path, manifest.bytes_of[path]


def _is_there(target: Path, size: int) -> bool:
    return target.is_file() and target.stat().st_size == size


@cache
def _manifest(path: Path) -> Manifest:
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


def _private_folder(folder: Path) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise EngineError(f"{folder} can be changed by somebody else, and code is loaded from it: remove it")
    return folder


def _unpack(archive: Path, target: Path, size: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")
    part = Path(name)
    try:
        with open(descriptor, "wb") as output:  # noqa: PTH123 - `Path` opens no descriptors
            _decompress(archive, output)
        _check_size(part, archive, size)
        # Whole or not at all: another process sees the old state or a complete file.
        part.replace(target)
    except OSError as error:
        raise EngineError(storage_message(error, target, size)) from error
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


def storage_message(error: OSError, target: Path, size: int) -> str:
    """Why a file could not be written, with the remedy where there is one."""
    if error.errno == errno.ENOSPC:
        return (
            f"{target.parent} has no room for the {size} bytes of {target.name}: raise the function's EphemeralStorage"
        )
    return f"{target.name} cannot be unpacked into {target.parent}: {error}"
