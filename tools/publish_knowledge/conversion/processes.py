"""Worker processes that convert documents, replaced when one takes too long, dies, or has converted enough."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, Final, Self, TypeVar

from publish_knowledge.conversion.protocol import ConversionError, Converted

T = TypeVar("T")

SECONDS: Final = 8.0
SECONDS_PER_MEGABYTE: Final = 3.0
"""Limit of time: of a small file, and what each megabyte adds. A hostile file is usually small."""

RECYCLED_AFTER: Final = 200
"""Documents after which a worker is replaced, since libraries keep memory."""


def limit_seconds(size: int) -> float:
    """How long a document of so many bytes may take."""
    return SECONDS + SECONDS_PER_MEGABYTE * size / 1_000_000


class Worker:
    """One process. Not for use by two threads at once."""

    def __init__(self) -> None:
        # No site of the current folder on the path: what lies beside the documents is never imported.
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-P", "-m", "publish_knowledge.conversion.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._left = RECYCLED_AFTER

    @property
    def is_worn(self) -> bool:
        """Whether it has to be replaced."""
        return self._left <= 0 or self._process.poll() is not None

    def convert(self, extension: str, data: bytes, seconds: float) -> Converted:
        """Convert one document; raises `ConversionError`, and ends the process where it takes too long."""
        late = threading.Event()
        timer = threading.Timer(seconds, self._kill, [late])
        timer.start()
        try:
            answer = self._ask(extension, data)
        finally:
            timer.cancel()
        self._left -= 1
        if answer is None:
            self.close()
            raise ConversionError(_explain_end(seconds if late.is_set() else None))
        if "error" in answer:
            raise ConversionError(answer["error"])
        return Converted(**answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        # What could not be handed over any more is still in the pipe's buffer.
        with suppress(BrokenPipeError), self._process:
            pass

    def _kill(self, late: threading.Event) -> None:
        late.set()
        self._process.kill()

    def _ask(self, extension: str, data: bytes) -> dict[str, Any] | None:
        """The answer, `None` where the process ended instead."""
        requests, answers = _pipe(self._process.stdin), _pipe(self._process.stdout)
        try:
            requests.write(json.dumps({"extension": extension, "bytes": len(data)}).encode() + b"\n")
            requests.write(data)
            requests.flush()
        except BrokenPipeError:
            return None
        line = answers.readline()
        return json.loads(line) if line.endswith(b"\n") else None


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("a worker has no pipe")
    return pipe


def _explain_end(seconds: float | None) -> str:
    if seconds is None:
        return "Converting it ended the process: it takes too much memory, or is damaged. Split it, or save it again."
    return f"Converting it takes longer than {seconds:.0f} seconds. Split it into several files, or save it again."


class ConversionPool:
    """Converts documents in as many processes as there are processors, started when they are first needed."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._executor = ThreadPoolExecutor(self.workers, "conversion")
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()

    def submit(self, function: Callable[..., T], *arguments: object) -> Callable[[], T]:
        """Run a function that converts in a thread of the pool; what is returned waits for its result."""
        return self._executor.submit(function, *arguments).result

    def convert(self, extension: str, data: bytes) -> Converted:
        """Convert one document by the extension of its name; raises `ConversionError`. For any thread."""
        worker = self._take()
        try:
            return worker.convert(extension, data, limit_seconds(len(data)))
        finally:
            self._idle.put(worker)

    def _take(self) -> Worker:
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return Worker()
            if not worker.is_worn:
                return worker
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get_nowait().close()
