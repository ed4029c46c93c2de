"""Every failure has an envelope and a code of its own, and the docstring draws them all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import signature

import pytest

from knowledge import errors
from knowledge.errors import (
    ERROR,
    UNAVAILABLE,
    DatasetMismatchError,
    InternalError,
    InvalidRequestError,
    KnowledgeError,
    ResourceUnavailableError,
    StorageUnavailableError,
)


def kinds() -> Iterator[type[KnowledgeError]]:
    return (kind for kind in KnowledgeError.__subclasses__() if kind.__module__ == errors.__name__)


def create(kind: type[KnowledgeError]) -> KnowledgeError:
    """A failure of a kind, with a text where it needs one."""
    needed = [one for one in signature(kind).parameters.values() if one.default is one.empty]
    return kind(*["a-text"] * len(needed))


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+) +(\w+) +(\w+)( \(retryable\))?", errors.__doc__ or "")
    assert [(name, envelope, code, bool(retryable)) for name, envelope, code, retryable in drawn] == [
        (kind.__name__, kind.envelope, kind.code, kind.retryable) for kind in kinds()
    ]


def test_no_two_kinds_share_a_code() -> None:
    codes = [kind.code for kind in kinds()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", list(kinds()))
def test_a_failure_carries_its_message_and_no_field_unless_one_is_named(kind: type[KnowledgeError]) -> None:
    failure = create(kind)
    assert failure.message == str(failure) != ""
    assert failure.field is None
    assert failure.envelope in (ERROR, UNAVAILABLE)


def test_an_invalid_request_names_the_field() -> None:
    failure = InvalidRequestError("limit_chars must be 1..10000", field="limit_chars")
    assert (failure.message, failure.field) == ("limit_chars must be 1..10000", "limit_chars")


def test_whatever_is_not_readable_has_one_message() -> None:
    assert ResourceUnavailableError().message == ResourceUnavailableError().message
    assert signature(ResourceUnavailableError).parameters == {}


def test_only_an_outage_may_be_retried() -> None:
    assert [kind for kind in kinds() if kind.retryable] == [StorageUnavailableError]
    assert not DatasetMismatchError.retryable


def test_an_unforeseen_failure_tells_its_correlation_id_alone() -> None:
    assert InternalError("r-17").message == "The call failed for an unexpected reason. Quote r-17 to the operator."
