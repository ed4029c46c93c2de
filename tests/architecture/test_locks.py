"""The locks are current, whole and tied to no package index; checked without a network."""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.architecture.source import ROOT

LOCK: Final = runpy.run_path(str(ROOT / "requirements/lock.py"))
NAMES: Final = tuple(LOCK["LOCKS"])
SIDES: Final = LOCK["SIDE_LOCKS"]
PIN: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.MULTILINE)
# Everything a lock may hold: comments, pins with an optional marker, and hashes.
LINE: Final = re.compile(r"#.*|[a-z0-9][a-z0-9._-]*==\S+( ; [^\\]+)? \\| +--hash=sha256:[0-9a-f]{64}( \\)?| +# via.*|")


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def lock_text(name: str) -> str:
    return (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")


def side_lock_text(source: str) -> str:
    text: str = (ROOT / SIDES[source][0]).read_text(encoding="utf-8")
    return text


def is_current(text: str, tables: Mapping[str, Any]) -> bool:
    first_line: str = LOCK["MARK"] + LOCK["dependency_digest"](tables)
    return text.partition("\n")[0] == first_line


def unexpected_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if not LINE.fullmatch(line)]


def unhashed_pins(text: str) -> list[str]:
    return re.findall(r"^([a-z0-9][a-z0-9._-]*)==[^\n]*\n(?! +--hash=)", text, re.MULTILINE)


def differing_pins(inner: str, outer: str) -> set[tuple[str, str]]:
    """Pins of the inner lock that the outer one lacks or holds at another version."""
    return set(PIN.findall(inner)) - set(PIN.findall(outer))


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_is_current(name: str) -> None:
    assert is_current(lock_text(name), pyproject()), "pyproject.toml has changed since: run `make lock`"


@pytest.mark.parametrize("table", ["dependencies", "optional-dependencies", "requires-python"])
def test_a_lock_behind_a_changed_table_is_caught(table: str) -> None:
    changed = pyproject()
    changed["project"][table] = {"publish": ["other"]} if table == "optional-dependencies" else ["other"]
    assert not is_current(lock_text("dev"), changed)


def test_a_lock_behind_a_changed_group_is_caught() -> None:
    assert not is_current(lock_text("dev"), {**pyproject(), "dependency-groups": {"dev": []}})


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_holds_hashed_pins_and_nothing_else(name: str) -> None:
    text = lock_text(name)
    assert PIN.findall(text)
    assert unexpected_lines(text) == []
    assert unhashed_pins(text) == []


@pytest.mark.parametrize("source", SIDES)
def test_a_lock_of_its_own_is_current_and_hashed(source: str) -> None:
    text = side_lock_text(source)
    digest = LOCK["source_digest"]((ROOT / source).read_text(encoding="utf-8"))
    assert text.partition("\n")[0] == LOCK["MARK"] + digest, f"{source} has changed since: run `make lock`"
    assert PIN.findall(text)
    assert unexpected_lines(text) == []
    assert unhashed_pins(text) == []


def test_a_changed_comment_makes_no_lock_stale_and_a_changed_requirement_does() -> None:
    digest = LOCK["source_digest"]
    assert digest("# why\none>=1\n") == digest("one>=1 # because\n") != digest("one>=2\n")


def test_an_index_or_an_open_version_in_a_lock_is_caught() -> None:
    lines = ["--index-url https://packages.example/simple", "numpy>=2", "numpy @ https://packages.example/numpy.whl"]
    assert unexpected_lines("\n".join(lines)) == lines


def test_a_pin_without_a_hash_is_caught() -> None:
    assert unhashed_pins("bare==1.0 \\\n    # via\nwhole==1.0 \\\n    --hash=sha256:00\nlast==2.0\n") == [
        "bare",
        "last",
    ]


def test_the_locks_agree_with_each_other() -> None:
    assert differing_pins(lock_text("run"), lock_text("publish")) == set()
    assert differing_pins(lock_text("publish"), lock_text("dev")) == set()
    assert differing_pins(side_lock_text("requirements/authorizer.in"), lock_text("dev")) == set()


def test_the_engine_is_the_function_s_closure_but_for_what_lambda_brings() -> None:
    run, engine = lock_text("run"), side_lock_text("requirements/engine.in")
    of_an_older_python = {"overrides"}
    assert {name for name, _ in differing_pins(run, engine)} - of_an_older_python == {"boto3", "botocore", "s3transfer"}
    assert {name for name, _ in differing_pins(engine, run)} == {"backports-zstd"}


def test_locks_that_disagree_are_caught() -> None:
    assert differing_pins("one==1.0 \\\ntwo==2.0 \\\n", "one==1.0 \\\ntwo==2.1 \\\n") == {("two", "2.0")}
