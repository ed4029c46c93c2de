"""Start a built function as Lambda does: with the runtime interface client, the emulator, and nothing else.

Where the system allows it, the function runs in mount and process namespaces of its own, with its folder at /var/task
and its merged layers at /opt, both read-only. Elsewhere `PYTHONPATH` names the folders where they are.
"""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lambda_emulator.artifact import Function

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 5.0
CALL_SECONDS: Final = 60
"""Longer than Lambda's own limit: it ends only calls of an emulator that hangs."""
INVOCATIONS: Final = "/2015-03-31/functions/function/invocations"
HIDDEN: Final = ("/opt/", "/var/")
"""Folders that the namespace mounts over: a Python or an emulator below them would be hidden."""
ISOLATED: Final = (Path("/var/task"), Path("/opt/python"))

LAYOUT: Final = """
set -e
mount -t tmpfs -o size=1m none /var
mkdir /var/task
mount --bind {task} /var/task
mount -o remount,bind,ro /var/task
mount --bind {opt} /opt
mount -o remount,bind,ro /opt
cd /var/task
exec {command}
"""


class SandboxError(RuntimeError):
    """The function could not be started or did not answer; the message ends with its log."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs the function: Lambda's emulator, and a Python with only the packages of Lambda's run time."""

    emulator: Path
    python: Path

    @property
    def is_visible(self) -> bool:
        """Whether both are outside the folders that a namespace hides."""
        paths = (self.emulator.resolve(), self.python.resolve(), self.python.absolute())
        return not any(str(path).startswith(HIDDEN) for path in paths)


@dataclass(frozen=True, slots=True)
class RunningFunction:
    """A running function."""

    port: int
    is_isolated: bool
    log: Path

    def invoke(self, event: object) -> Any:  # noqa: ANN401 - whatever JSON the function answers
        """Return the function's answer to an event; raises `SandboxError`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CALL_SECONDS)
        try:
            connection.request("POST", INVOCATIONS, json.dumps(event))
            return json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise SandboxError(
                f"the function did not answer ({error}); its log ends:\n{read_tail(self.log)}"
            ) from error
        finally:
            connection.close()


@contextmanager
def start_function(
    function: Function, machine: Machine, settings: Mapping[str, str], folder: Path
) -> Iterator[RunningFunction]:
    """Run a function for the duration of a block; `folder` gets its temporary files and its log."""
    port, other = find_free_ports(2)
    log = folder / "log"
    isolated = machine.is_visible and _find_namespace_command() is not None
    command = _build_command(function, machine, settings, (port, other), folder, isolated=isolated)
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)  # noqa: S603 - ours
    try:
        _await_port(process, port, log)
        yield RunningFunction(port, isolated, log)
    finally:
        _stop(process)


def read_tail(log: Path, lines: int = 20) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def merge_layers(layers: Sequence[Path], target: Path) -> Path:
    """Merge layers into one folder as Lambda does, by hard links where the file system allows it."""
    for layer in layers:
        shutil.copytree(layer, target, dirs_exist_ok=True, copy_function=_link)
    return target


def _build_command(
    function: Function,
    machine: Machine,
    settings: Mapping[str, str],
    ports: Sequence[int],
    folder: Path,
    *,
    isolated: bool,
) -> list[str]:
    paths = ISOLATED if isolated else [function.folder, *(layer / "python" for layer in function.layers)]
    temporary = folder / "tmp"
    temporary.mkdir()
    environment = {
        **_build_environment(function, [str(path.absolute()) for path in paths]),
        "TMPDIR": str(temporary.absolute()),
        **settings,
    }
    run = [
        *("env", "-i", *(f"{name}={value}" for name, value in environment.items()), str(machine.emulator.absolute())),
        *(f"--runtime-interface-emulator-address=127.0.0.1:{ports[0]}", f"--runtime-api-address=127.0.0.1:{ports[1]}"),
        *(str(machine.python.absolute()), "-m", "awslambdaric", function.handler),
    ]
    return _wrap_in_namespaces(run, function, folder) if isolated else run


def _build_environment(function: Function, paths: Sequence[str]) -> dict[str, str]:
    """Return the variables that Lambda sets, and those of the template."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "LAMBDA_TASK_ROOT": paths[0],
        "PYTHONPATH": ":".join(paths),
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "28",
        "_HANDLER": function.handler,
        **function.environment,
    }


def _wrap_in_namespaces(run: Sequence[str], function: Function, folder: Path) -> list[str]:
    opt = merge_layers(function.layers, folder / "opt")
    script = LAYOUT.format(task=_quote(function.folder), opt=_quote(opt), command=shlex.join(run))
    return [*(_find_namespace_command() or ()), "sh", "-c", script]


def _find_namespace_command() -> tuple[str, ...] | None:
    """Return the command that gives a process namespaces of its own, or `None` where that is not permitted."""
    user = () if os.getuid() == 0 else ("--map-root-user",)
    command = ("unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    with suppress(OSError, subprocess.TimeoutExpired):
        probe = [*command, "mount", "-t", "tmpfs", "none", "/var"]
        if subprocess.run(probe, capture_output=True, check=False, timeout=10).returncode == 0:  # noqa: S603 - ours
            return command
    return None


def find_free_ports(count: int) -> tuple[int, ...]:
    """Return ports of this machine that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = tuple(one.getsockname()[1] for one in sockets)
    for one in sockets:
        one.close()
    return ports


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise SandboxError(f"the emulator did not start; its log ends:\n{read_tail(log)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
            return


def _link(source: str, target: str) -> None:
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _quote(path: Path) -> str:
    return shlex.quote(str(path.absolute()))
