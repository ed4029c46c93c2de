"""The run-time switch: whether the tool answers at all. Everything but `on` is off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

ON: Final = "on"
PARAMETER_PREFIX: Final = "ssm:"

MAX_AGE_SECONDS: Final = 5.0
"""How long a state is valid; with the time of a call, half of the 10 s in which a change has to show."""

FIRST_WAIT_SECONDS: Final = 5.0
"""Before the first answer a call waits as long as the client may take for it."""

NEXT_WAIT_SECONDS: Final = 1.0
"""Once a state is known, no call waits long for a newer one; a later answer is still used."""

_NEVER: Final = float("-inf")


class Switch(Protocol):
    """Decides for each call whether the tool answers."""

    async def is_on(self, deadline: float) -> bool:
        """True only if the switch is known to be on; returns by the deadline and never raises.

        `deadline` is on the clock of `time.monotonic`, in seconds.
        """

    def prepare(self) -> None:
        """Load what needs no connection."""

    def renew(self) -> None:
        """Drop connections, credentials and the state, all of which are outdated after a snapshot."""


@dataclass(frozen=True, slots=True)
class FixedSwitch:
    """A switch whose state is given once, when the function is composed."""

    on: bool

    async def is_on(self, deadline: float) -> bool:
        """The state that was given."""
        del deadline
        return self.on

    def prepare(self) -> None:
        """Nothing to load."""

    def renew(self) -> None:
        """Nothing to drop."""


class Parameter:
    """One parameter of the Systems Manager, in plain text. Blocking; safe to call from threads."""

    def __init__(self, name: str, region: str | None = None) -> None:
        self._name = name
        self._region = region
        self._client: SSMClient | None = None

    def read(self) -> str:
        """The parameter's value; raises what botocore raises, within about 4 s."""
        if self._client is None:
            self._client = self._connect()
        return self._client.get_parameter(Name=self._name)["Parameter"]["Value"]

    def prepare(self) -> None:
        """Import the client and parse its service model: half a second for which no call should wait."""
        self._client = self._connect()

    def renew(self) -> None:
        """Drop the client with its credentials."""
        self._client = None

    def _connect(self) -> SSMClient:
        import boto3  # noqa: PLC0415 - a switch that is fixed should not pay for it
        from botocore.config import Config  # noqa: PLC0415 - as above

        patience = Config(connect_timeout=1, read_timeout=1, retries={"mode": "standard", "total_max_attempts": 2})
        return boto3.session.Session(region_name=self._region).client("ssm", config=patience)


class ParameterSwitch:
    """A switch that follows a parameter.

    If the parameter cannot be read, the last known state applies; without one the tool is off.
    """

    def __init__(self, parameter: Parameter, on_fault: Callable[[Exception], None]) -> None:
        self._parameter = parameter
        self._on_fault = on_fault
        self._on = False
        self._known_since = _NEVER
        self._requested_at = _NEVER

    async def is_on(self, deadline: float) -> bool:
        """The state, at most `MAX_AGE_SECONDS` old where the parameter can be read."""
        # The wall clock, because the monotonic clock may stop while Lambda has frozen the process.
        if not 0 <= time.time() - self._requested_at <= MAX_AGE_SECONDS:
            self._requested_at = time.time()
            wait = FIRST_WAIT_SECONDS if self._known_since == _NEVER else NEXT_WAIT_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(min(wait, deadline - time.monotonic())):
                    await asyncio.to_thread(self._learn, self._requested_at)
        return self._on

    def prepare(self) -> None:
        """Load the client; a fault is reported, and the first call tries again."""
        try:
            self._parameter.prepare()
        except Exception as error:  # noqa: BLE001 - loading the function must not fail
            self._on_fault(error)

    def renew(self) -> None:
        """Drop the state and the connection."""
        self._parameter.renew()
        self._on, self._known_since, self._requested_at = False, _NEVER, _NEVER

    def _learn(self, requested_at: float) -> None:
        try:
            on = self._parameter.read() == ON
        except Exception as error:  # noqa: BLE001 - whatever the reason, an unreadable switch changes nothing
            self._on_fault(error)
            return
        # A late answer to an earlier request must not replace that of a later one.
        if requested_at >= self._known_since:
            self._on, self._known_since = on, requested_at


def switch_from(setting: str, on_fault: Callable[[Exception], None], region: str | None = None) -> Switch:
    """The switch that a setting describes: `on`, or `ssm:<parameter>`.

    `off`, a misspelling and an empty text are off. `on_fault` is called for every read that fails.
    """
    if setting.startswith(PARAMETER_PREFIX):
        return ParameterSwitch(Parameter(setting.removeprefix(PARAMETER_PREFIX), region), on_fault)
    return FixedSwitch(on=setting == ON)
