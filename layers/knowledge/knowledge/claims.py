"""What a claim's value means: the rule that the function and its authorizer share. Pure; imports `text` alone.

A claim never grants a right that it does not name.

* A list names its ids exactly, whatever they contain.
* Text is one id. Whitespace, a comma or a bracket in it could make it a list, so the claim is ambiguous and refused.
* `AUTHORIZER`: a REST API's context holds no lists, so this project's authorizer writes teams as a JSON array in text
  and marks its context (`CONTEXT_MARK`). Anywhere else, text that looks like JSON may be the name of one group.
* `FLATTENED`: an HTTP API's JWT authorizer turns every array into the text `[a b]` and never writes JSON.

An operator may declare (`TEAMS_FORM`) that the issuer's text is a list: `json` where it begins with a bracket, `words`
where no id contains whitespace or a comma. Ids are never trimmed, folded or normalized.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NoReturn

from knowledge.text import is_unicode

FREE_TIER: Final = "free"
"""The tier of a caller that names none."""

OTHER_SCOPE_CLAIM: Final = "scp"
"""What some issuers call the scope claim."""

CONTEXT_MARK: Final[Mapping[str, str]] = {"search_knowledge_context": "1"}
"""What this project's authorizer adds to the context that it hands to the gateway."""

_TOKEN_CLAIMS: Final = frozenset({"iss", "aud", "exp"})
"""Claims that a token has and this project's authorizer never passes on. A context with one of them was copied from a
token by somebody else's authorizer, so that a mark in it is the issuer's."""

_LARGEST_ID: Final = 10**18
"""A larger number identifies nobody: gateways and issuers have rounded it already."""

_OTHER_CLIENT_CLAIM: Final = "azp"
_WORDS: Final = "words"
_JSON: Final = "json"
_EMPTY_LIST: Final = "[]"
_SEPARATORS: Final = str.maketrans(",", " ")


class AmbiguousClaimError(ValueError):
    """A claim that could grant a right that it does not name. `name` is the claim, the message says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"The token's claim {name} is ambiguous: {reason}.")
        self.name = name


class ClaimForm(Enum):
    """How the values have been written by whoever passes the claims on."""

    TYPED = auto()
    """As in the token: a list is a list, and text is text."""
    AUTHORIZER = auto()
    """By this project's authorizer: text only, teams as a JSON array."""
    FLATTENED = auto()
    """By an HTTP API's JWT authorizer: every array has become the text `[a b]`."""


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """The names of the claims, and what the operator declares about lists in text.

    `teams_are_words`: no team id contains whitespace or a comma. `arrays_in_text`: text that begins with a bracket is
    a JSON array, in the claims of teams and scopes.
    """

    owner: str = "sub"
    teams: str = "teams"
    scope: str = "scope"
    client: str = "client_id"
    tier: str = "tier"
    usage_key: str = ""
    teams_are_words: bool = False
    arrays_in_text: bool = False


@dataclass(frozen=True, slots=True)
class CallerClaims:
    """Who calls, as the claims say: `owner` is empty where they name none, and then there are no teams either."""

    owner: str
    teams: tuple[str, ...]
    permissions: frozenset[str]
    client: str
    tier: str


def claim_names_from(environ: Mapping[str, str]) -> ClaimNames:
    """Read the names from environment variables; empty ones count as missing."""
    usual = ClaimNames()
    return ClaimNames(
        owner=environ.get("OWNER_CLAIM") or usual.owner,
        teams=environ.get("TEAMS_CLAIM") or usual.teams,
        scope=environ.get("SCOPE_CLAIM") or usual.scope,
        client=environ.get("CLIENT_CLAIM") or usual.client,
        tier=environ.get("TIER_CLAIM") or usual.tier,
        usage_key=environ.get("USAGE_KEY_CLAIM") or usual.usage_key,
        teams_are_words=environ.get("TEAMS_FORM") == _WORDS,
        arrays_in_text=environ.get("TEAMS_FORM") == _JSON,
    )


def context_form(context: Mapping[str, object]) -> ClaimForm:
    """The form of a Lambda authorizer's context: this project's own, or another's."""
    marked = all(context.get(name) == value for name, value in CONTEXT_MARK.items())
    return ClaimForm.AUTHORIZER if marked and _TOKEN_CLAIMS.isdisjoint(context) else ClaimForm.TYPED


def read_caller(claims: Mapping[str, object], names: ClaimNames, form: ClaimForm = ClaimForm.TYPED) -> CallerClaims:
    """The caller that the claims name. Raises `AmbiguousClaimError`."""
    owner = read_owner(claims, names, form)
    return CallerClaims(
        owner=owner,
        teams=read_teams(claims, names, form) if owner else (),
        permissions=read_permissions(claims, names, form),
        client=read_label(claims, names.client) or read_label(claims, _OTHER_CLIENT_CLAIM),
        tier=read_label(claims, names.tier) or FREE_TIER,
    )


def read_owner(claims: Mapping[str, object], names: ClaimNames, form: ClaimForm = ClaimForm.TYPED) -> str:
    """The owner's id, empty where the claims name none. Raises `AmbiguousClaimError`."""
    owner = read_text(claims.get(names.owner))
    if not owner.strip():
        return ""
    if form is ClaimForm.FLATTENED and _is_bracketed(owner):
        _refuse(names.owner, "it may be a list, and a caller is one owner")
    return _check_unicode(owner, names.owner)


def read_teams(claims: Mapping[str, object], names: ClaimNames, form: ClaimForm = ClaimForm.TYPED) -> tuple[str, ...]:
    """The ids of the caller's teams, in order. Raises `AmbiguousClaimError`."""
    value, name = claims.get(names.teams), names.teams
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return _read_list(value, name)
    text = read_text(value)
    if not text and value != "":
        _refuse(name, "it is neither text nor a list of texts")
    if text in ("", _EMPTY_LIST):
        return ()
    if form is ClaimForm.AUTHORIZER or (names.arrays_in_text and text.lstrip().startswith("[")):
        return _read_list(_parse_array(text, name), name)
    return _split_words(_strip_brackets(text, name) if form is ClaimForm.FLATTENED else text, names)


def read_permissions(
    claims: Mapping[str, object], names: ClaimNames, form: ClaimForm = ClaimForm.TYPED
) -> frozenset[str]:
    """The OAuth scopes of the token: text, which spaces separate, or a list. Raises `AmbiguousClaimError`.

    A scope holds no whitespace. An entry of a list that does is left out, since it would later become two scopes.
    """
    name = names.scope if claims.get(names.scope) else OTHER_SCOPE_CLAIM
    value = claims.get(name)
    if isinstance(value, str):
        value = _split_permissions(value, name, form, arrays_in_text=names.arrays_in_text)
    if not isinstance(value, (list, tuple)):
        return frozenset()
    granted = (one for one in value if isinstance(one, str) and one and not any(map(str.isspace, one)))
    return frozenset(_check_unicode(one, name) for one in granted)


def read_label(claims: Mapping[str, object], name: str) -> str:
    """A claim that is passed on and grants nothing by itself. Raises `AmbiguousClaimError` if it is not text."""
    return _check_unicode(read_text(claims.get(name)), name)


def read_text(value: object) -> str:
    """Text as it is and a whole number in digits, as every gateway writes it; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_ID:
        return str(value)
    return ""


def _read_list(values: Sequence[object], name: str) -> tuple[str, ...]:
    ids = tuple(read_text(value) for value in values)
    if any(not identity and value != "" for identity, value in zip(ids, values, strict=True)):
        _refuse(name, "one of its entries is not text")
    return tuple(_check_unicode(identity, name) for identity in ids if identity)


def _parse_array(text: str, name: str) -> Sequence[object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, list) else _refuse(name, "it should be a JSON array and is none")


def _strip_brackets(text: str, name: str) -> str:
    """The inside of a flattened array; text without brackets as it is."""
    if not _is_bracketed(text):
        return text
    if text[1:2] == '"' and text[-2:-1] == '"':
        # The id `"a"` in an array and the JSON text `["a"]` look alike once flattened.
        _refuse(name, "it may be a JSON array or an id with quotation marks")
    return text[1:-1]


def _split_words(text: str, names: ClaimNames) -> tuple[str, ...]:
    ids = text.translate(_SEPARATORS).split(" ") if names.teams_are_words else [text]
    if any("," in identity or any(map(str.isspace, identity)) for identity in ids):
        _refuse(names.teams, "an id with whitespace or a comma cannot be distinguished from two ids; send a JSON array")
    if "[" in text or "]" in text:
        _refuse(names.teams, "text with brackets could be an id or a list; send a JSON array")
    return tuple(_check_unicode(identity, names.teams) for identity in ids if identity)


def _split_permissions(text: str, name: str, form: ClaimForm, *, arrays_in_text: bool) -> Sequence[object]:
    text = text.strip()
    if arrays_in_text and text.startswith("["):
        return _parse_array(text, name)
    return (text[1:-1] if form is ClaimForm.FLATTENED and _is_bracketed(text) else text).split(" ")


def _is_bracketed(text: str) -> bool:
    return text.startswith("[") and text.endswith("]")


def _check_unicode(identity: str, name: str) -> str:
    return identity if is_unicode(identity) else _refuse(name, "it holds a lone surrogate, which is not text")


def _refuse(name: str, reason: str) -> NoReturn:
    raise AmbiguousClaimError(name, reason)
