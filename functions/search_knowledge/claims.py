"""From an authorizer's claims to a caller.

Four shapes arrive: a REST API's Lambda authorizer (flat strings), its Cognito authorizer (`claims`), an HTTP API's JWT
authorizer (`jwt.claims`, where every array has become the text `[a b]`) and its Lambda authorizer (`lambda`, where
lists stay lists).

The rule for teams: a claim never gives a right that it does not name.

* A real list names its ids exactly, whatever they hold; so does a JSON array in text, which is how a REST API's
  authorizer writes a list. A JWT authorizer never writes JSON: what looks like it there is refused.
* Any other text names one id. If it holds a blank or a comma it could be one id or several: the claim is refused, not
  guessed at. So is text in brackets that is not what its shape writes.
* `[a]` from a JWT authorizer is the one id `a`; `[a b]` is refused, unless the operator vouches (`TEAMS_FORM=words`)
  that no id of the issuer holds a blank or a comma. Then, and only then, such texts are split.

Ids are never trimmed, folded or normalised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from knowledge.errors import ScopeRequiredError
from knowledge.scopes import Caller
from knowledge.text import is_unicode

DEFAULT_TIER: Final = "free"

_OTHER_SCOPE_CLAIM: Final = "scp"
"""What some issuers call the scope claim."""

_LARGEST_ID: Final = 10**18
"""A larger number is nobody's id: gateways and issuers have rounded it already."""

_BLANKS_AND_COMMAS: Final = str.maketrans(",", " ")


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """Which claim says what, and whether the operator vouches that no team id holds a blank or a comma."""

    owner: str = "sub"
    teams: str = "teams"
    scope: str = "scope"
    client: str = "client_id"
    tier: str = "tier"
    teams_are_words: bool = False


@dataclass(frozen=True, slots=True)
class Claims:
    """Verified claims by name. `flattened`: the gateway has turned arrays into `[a b]`."""

    values: Mapping[str, object]
    flattened: bool = False


NO_CLAIMS: Final = Claims({})


def claims_of(authorizer: object) -> Claims:
    """The claims in a gateway's authorizer context, whichever of the four shapes it has; never raises."""
    if not isinstance(authorizer, Mapping):
        return NO_CLAIMS
    jwt, context, cognito = (authorizer.get(key) for key in ("jwt", "lambda", "claims"))
    if isinstance(jwt, Mapping):
        verified = jwt.get("claims")
        return Claims(verified, flattened=True) if isinstance(verified, Mapping) else NO_CLAIMS
    if isinstance(context, Mapping):
        return Claims(context)
    return Claims(cognito if isinstance(cognito, Mapping) else authorizer)


def caller_of(claims: Claims, names: ClaimNames) -> Caller:
    """The caller whom the claims name.

    Raises `ScopeRequiredError` if they name no owner, or if the owner or a team cannot be told for certain.
    """
    values = claims.values
    return Caller(
        owner_id=_owner(claims, names.owner),
        team_ids=_teams(claims, names),
        permissions=_permissions(values.get(names.scope) or values.get(_OTHER_SCOPE_CLAIM)),
        client_id=_plain(values.get(names.client)),
        tier=_plain(values.get(names.tier)) or DEFAULT_TIER,
    )


def _owner(claims: Claims, name: str) -> str:
    owner = _plain(claims.values.get(name))
    if not owner.strip():
        raise ScopeRequiredError(f"No verified caller: the token names no owner in the claim {name}.")
    if claims.flattened and _bracketed(owner):
        _refuse(name, "it may be a list, and a caller is one owner")
    return _exact(owner, name)


def _teams(claims: Claims, names: ClaimNames) -> tuple[str, ...]:
    value, name = claims.values.get(names.teams), names.teams
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return _listed(value, name)
    text = _plain(value)
    if not text and value != "":
        _refuse(name, "it is neither text nor a list of texts")
    if claims.flattened:
        return _words(_unbracketed(text, name), names)
    return _listed(_json_array(text, name), name) if text.lstrip().startswith("[") else _words(text, names)


def _listed(values: Sequence[object], name: str) -> tuple[str, ...]:
    ids = tuple(_plain(value) for value in values)
    if any(not identity and value != "" for identity, value in zip(ids, values, strict=True)):
        _refuse(name, "one of its entries is not text")
    return tuple(_exact(identity, name) for identity in ids if identity)


def _json_array(text: str, name: str) -> Sequence[object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, list) else _refuse(name, "it begins like a JSON array and is none")


def _unbracketed(text: str, name: str) -> str:
    """What stands in the brackets of a flattened array; text without brackets as it is."""
    if not _bracketed(text):
        return text
    if text[1:2] == '"' and text[-2:-1] == '"':
        # The id `"a"` in an array and the JSON text `["a"]` look alike once flattened.
        _refuse(name, "it may be a JSON array or an id with quotation marks")
    return text[1:-1]


def _words(text: str, names: ClaimNames) -> tuple[str, ...]:
    ids = text.translate(_BLANKS_AND_COMMAS).split(" ") if names.teams_are_words else [text]
    if any("," in identity or any(map(str.isspace, identity)) for identity in ids):
        _refuse(names.teams, "an id with a blank or a comma cannot be told from two ids; send a JSON array")
    return tuple(_exact(identity, names.teams) for identity in ids if identity)


def _permissions(value: object) -> frozenset[str]:
    """OAuth scopes hold no blanks, quotes or brackets, so that here every form can be taken apart."""
    if isinstance(value, (list, tuple)):
        return frozenset(one for one in value if isinstance(one, str))
    text = value.strip() if isinstance(value, str) else ""
    if not _bracketed(text):
        return frozenset(filter(None, text.split(" ")))
    try:
        return _permissions(json.loads(text))
    except (ValueError, RecursionError):
        return frozenset(filter(None, text[1:-1].split(" ")))


def _plain(value: object) -> str:
    """Text as it is and a whole number in digits, as every gateway writes it; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_ID:
        return str(value)
    return ""


def _bracketed(text: str) -> bool:
    return text.startswith("[") and text.endswith("]")


def _exact(identity: str, name: str) -> str:
    return identity if is_unicode(identity) else _refuse(name, "it holds a lone surrogate, which is not text")


def _refuse(name: str, reason: str) -> NoReturn:
    raise ScopeRequiredError(f"The token's claim {name} cannot be read for certain: {reason}.")
