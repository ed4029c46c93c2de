"""A built function started as Lambda starts it: the run-time interface client, the emulator, and nothing else.

Where the system allows it, the function sees its own folder as /var/task and its layers, merged, as /opt, both
read-only, in a mount and process namespace of its own. Elsewhere its paths say where the folders are.
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
"""Lambda's own limits end a call before; this one is for an emulator that hangs."""
INVOCATIONS: Final = "/2015-03-31/functions/function/invocations"
HIDDEN: Final = ("/opt/", "/var/")
"""What a namespace covers: a Python or an emulator from there could not be seen in it."""
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
    """The function could not be started or did not answer; the message says what was seen."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs the function: Lambda's emulator, and a Python that has only what Lambda's own has."""

    emulator: Path
    python: Path

    @property
    def visible(self) -> bool:
        """Whether both can be seen in a namespace of ours."""
        paths = (self.emulator.resolve(), self.python.resolve(), self.python.absolute())
        return not any(str(path).startswith(HIDDEN) for path in paths)


@dataclass(frozen=True, slots=True)
class Started:
    """A running function."""

    port: int
    isolated: bool
    log: Path

    def invoke(self, event: object) -> Any:  # noqa: ANN401 - whatever JSON the function answers
        """The function's answer to an event; raises `SandboxError`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CALL_SECONDS)
        try:
            connection.request("POST", INVOCATIONS, json.dumps(event))
            return json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise SandboxError(f"the function did not answer ({error}); its log ends:\n{tail(self.log)}") from error
        finally:
            connection.close()


@contextmanager
def started(function: Function, machine: Machine, settings: Mapping[str, str], folder: Path) -> Iterator[Started]:
    """Start a function, with `folder` for its temporary files and its log; nothing is left running afterwards."""
    port, other = free_ports(2)
    log = folder / "log"
    isolated = machine.visible and _namespaces() is not None
    command = _command(function, machine, settings, (port, other), folder, isolated=isolated)
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)  # noqa: S603 - ours
    try:
        _await_port(process, port, log)
        yield Started(port, isolated, log)
    finally:
        _stop(process)


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def merge_layers(layers: Sequence[Path], target: Path) -> Path:
    """Lay layers over each other as Lambda does, by links where the disk allows it."""
    for layer in layers:
        shutil.copytree(layer, target, dirs_exist_ok=True, copy_function=_link)
    return target


def _command(
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
        **_environment(function, [str(path.absolute()) for path in paths]),
        "TMPDIR": str(temporary.absolute()),
        **settings,
    }
    run = [
        *("env", "-i", *(f"{name}={value}" for name, value in environment.items()), str(machine.emulator.absolute())),
        *(f"--runtime-interface-emulator-address=127.0.0.1:{ports[0]}", f"--runtime-api-address=127.0.0.1:{ports[1]}"),
        *(str(machine.python.absolute()), "-m", "awslambdaric", function.handler),
    ]
    return _in_namespaces(run, function, folder) if isolated else run


def _environment(function: Function, paths: Sequence[str]) -> dict[str, str]:
    """What Lambda tells a function, and what the template does."""
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


def _in_namespaces(run: Sequence[str], function: Function, folder: Path) -> list[str]:
    opt = merge_layers(function.layers, folder / "opt")
    script = LAYOUT.format(task=_quote(function.folder), opt=_quote(opt), command=shlex.join(run))
    return [*(_namespaces() or ()), "sh", "-c", script]


def _namespaces() -> tuple[str, ...] | None:
    """The command that gives a process namespaces of its own; None where that is not allowed."""
    user = () if os.getuid() == 0 else ("--map-root-user",)
    command = ("unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    with suppress(OSError, subprocess.TimeoutExpired):
        probe = [*command, "mount", "-t", "tmpfs", "none", "/var"]
        if subprocess.run(probe, capture_output=True, check=False, timeout=10).returncode == 0:  # noqa: S603 - ours
            return command
    return None


def free_ports(count: int) -> tuple[int, ...]:
    """Ports of this machine that nothing listens on."""
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
    raise SandboxError(f"the emulator did not start; its log ends:\n{tail(log)}")


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
