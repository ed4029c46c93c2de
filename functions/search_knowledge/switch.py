"""The run-time switch: whether the tool answers at all. Whatever cannot be read as "on" is off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

ON: Final = "on"


class Switch(Protocol):
    """What decides, anew for each call, whether the tool answers."""

    def is_on(self) -> bool:
        """True only if the operator is known to want the tool on; may block shortly, never raises."""


@dataclass(frozen=True, slots=True)
class FixedSwitch:
    """A switch whose state is given once, when the function is composed."""

    on: bool

    def is_on(self) -> bool:
        """The state that was given."""
        return self.on


def switch_from(setting: str) -> Switch:
    """The switch that a setting describes.

    `on` is on. `off`, a misspelling and nothing at all are off, and so is `ssm:<parameter>` while no reader of the
    parameter is at hand: an unreadable switch is no permission.
    """
    return FixedSwitch(on=setting == ON)
