"""What a claim's value means: the rule that the function and its authorizer share. Pure; imports `text` alone.

A claim never grants a right that it does not name.

* A list names its ids exactly, whatever they contain; so does a JSON array in text, the form in which a REST API's
  authorizer passes a list. An HTTP API's JWT authorizer turns every array into the text `[a b]` (`flattened`) and never
  writes JSON: what looks like JSON there is refused.
* Any other text names one id. Text with whitespace or a comma could be one id or several, so the claim is ambiguous and
  refused, unless the operator declares (`TEAMS_FORM=words`) that no id of the issuer contains either; then it is split.

Ids are never trimmed, folded or normalized.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from knowledge.text import is_unicode

FREE_TIER: Final = "free"
"""The tier of a caller that names none."""

OTHER_SCOPE_CLAIM: Final = "scp"
"""What some issuers call the scope claim."""

_LARGEST_ID: Final = 10**18
"""A larger number identifies nobody: gateways and issuers have rounded it already."""

_WORDS: Final = "words"
_SEPARATORS: Final = str.maketrans(",", " ")


class AmbiguousClaimError(ValueError):
    """A claim that could grant a right that it does not name. `name` is the claim, the message says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"The token's claim {name} is ambiguous: {reason}.")
        self.name = name


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """The names of the claims, and whether the operator declares that no team id contains whitespace or a comma."""

    owner: str = "sub"
    teams: str = "teams"
    scope: str = "scope"
    client: str = "client_id"
    tier: str = "tier"
    usage_key: str = ""
    teams_are_words: bool = False


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
    )


def read_owner(claims: Mapping[str, object], names: ClaimNames, *, flattened: bool = False) -> str:
    """The owner's id, empty where the claims name none. Raises `AmbiguousClaimError`."""
    owner = read_text(claims.get(names.owner))
    if not owner.strip():
        return ""
    if flattened and _is_bracketed(owner):
        _refuse(names.owner, "it may be a list, and a caller is one owner")
    return _check_unicode(owner, names.owner)


def read_teams(claims: Mapping[str, object], names: ClaimNames, *, flattened: bool = False) -> tuple[str, ...]:
    """The ids of the caller's teams, in order. Raises `AmbiguousClaimError`."""
    value, name = claims.get(names.teams), names.teams
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return _read_list(value, name)
    text = read_text(value)
    if not text and value != "":
        _refuse(name, "it is neither text nor a list of texts")
    if flattened:
        return _split_words(_strip_brackets(text, name), names)
    return _read_list(_parse_array(text, name), name) if text.lstrip().startswith("[") else _split_words(text, names)


def read_permissions(claims: Mapping[str, object], names: ClaimNames, *, arrays_in_text: bool = True) -> frozenset[str]:
    """The OAuth scopes of the token; with `arrays_in_text` a gateway may have written a list as text.

    Scopes hold no whitespace, quotes or brackets, so that every form can be split.
    """
    return _split_permissions(claims.get(names.scope) or claims.get(OTHER_SCOPE_CLAIM), arrays_in_text=arrays_in_text)


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
    return found if isinstance(found, list) else _refuse(name, "it begins like a JSON array and is none")


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
    return tuple(_check_unicode(identity, names.teams) for identity in ids if identity)


def _split_permissions(value: object, *, arrays_in_text: bool) -> frozenset[str]:
    if isinstance(value, (list, tuple)):
        return frozenset(one for one in value if isinstance(one, str) and one)
    text = value.strip() if isinstance(value, str) else ""
    if not (arrays_in_text and _is_bracketed(text)):
        return frozenset(filter(None, text.split(" ")))
    try:
        return _split_permissions(json.loads(text), arrays_in_text=True)
    except (ValueError, RecursionError):
        return frozenset(filter(None, text[1:-1].split(" ")))


def _is_bracketed(text: str) -> bool:
    return text.startswith("[") and text.endswith("]")


def _check_unicode(identity: str, name: str) -> str:
    return identity if is_unicode(identity) else _refuse(name, "it holds a lone surrogate, which is not text")


def _refuse(name: str, reason: str) -> NoReturn:
    raise AmbiguousClaimError(name, reason)
