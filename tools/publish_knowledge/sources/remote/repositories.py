"""Fetch a Git repository at one revision, with the git and the credentials of the user.

A repository is a stranger's. Git runs without hooks, submodules, prompts and filters of large files, and over the one
protocol that the address names; the revision is always behind `--`, so that it cannot be an option.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from publish_knowledge.sources.file_errors import UnusableFileError
from publish_knowledge.sources.remote.addresses import GitAddress

FETCH_SECONDS: Final = 600.0
"""Longer than any shallow fetch of documents; a server that stops answering must end the command some time."""

_MESSAGE_CHARS: Final = 300

_OPTIONS: Final = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false"),
    *("-c", "protocol.allow=never", "-c", "submodule.recurse=false", "-c", "advice.detachedHead=false"),
    *("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"),
)
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "LC_ALL": "C",
}
_OWN: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT")
"""Variables that would let git work on another repository, as they are set where a hook runs this command."""


def fetch_repository(address: GitAddress, into: Path, environ: Mapping[str, str]) -> Path:
    """Fetch into a new folder and return the one to search; raises `UnusableFileError` with git's reason."""
    folder = into / address.name
    scheme = urlsplit(address.url).scheme
    allow = ("-c", f"protocol.{scheme}.allow=always")
    environment = {name: value for name, value in environ.items() if name not in _OWN} | _ENVIRONMENT
    fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
    for arguments in (
        ("init", "--quiet", "--template=", "--", str(folder)),
        ("-C", str(folder), *allow, *fetch, "--", address.url, address.ref),
        ("-C", str(folder), "checkout", "--quiet", "--detach", "FETCH_HEAD"),
    ):
        _run(address, arguments, environment)
    shutil.rmtree(folder / ".git")
    return _find_subfolder(address, folder)


def _run(address: GitAddress, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        subprocess.run(  # noqa: S603 - a fixed program, and arguments that were checked
            ["git", *_OPTIONS, *arguments],  # noqa: S607 - the user's own git, wherever it is installed
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCH_SECONDS,
            check=True,
        )
    except FileNotFoundError:
        raise UnusableFileError("It is a Git repository, and git is not installed. Install git.") from None
    except subprocess.TimeoutExpired:
        raise UnusableFileError(f"git did not end within {FETCH_SECONDS:.0f} s. Check the network.") from None
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())[:_MESSAGE_CHARS]
        raise UnusableFileError(
            f"The repository cannot be read at {address.ref}: {said}. Check address, revision and credentials."
        ) from None


def _find_subfolder(address: GitAddress, folder: Path) -> Path:
    found = folder
    for name in Path(address.folder).parts:
        found /= name
        if found.is_symlink() or not found.is_dir():
            raise UnusableFileError(f"It has no folder {address.folder} at {address.ref}. Correct #subdirectory=.")
    return found
