"""Verify a token: signature, issuer, audience, times; with the issuer's keys and asymmetric algorithms alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import jwt

from authorizer.errors import RefusedTokenError
from authorizer.signing_keys import IssuerKeys, Jwk

# By key type, so that a key is used with its own kind of algorithm only. `none` and HMAC, for which a public key would
# be the secret, are in no list.
ALGORITHMS: Final[Mapping[str, tuple[str, ...]]] = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}

LEEWAY_SECONDS: Final = 30
"""How much two clocks may differ."""

_FAULTS: Final = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What the library raises for malformed tokens, with infinite times or deeply nested JSON among them."""

Claims = Mapping[str, Any]


class TokenVerifier:
    """Verifies the tokens of one issuer."""

    def __init__(self, issuer: str, keys: IssuerKeys, client_ids: frozenset[str]) -> None:
        self._issuer = issuer
        self._keys = keys
        self._client_ids = client_ids

    def claims(self, token: str, audiences: Iterable[str]) -> Claims:
        """The claims of a valid token.

        Raises `RefusedTokenError` for an invalid one, and `IssuerUnavailableError` if it cannot be verified.
        """
        algorithm, key_id = _header(token)
        keys = [key for key in self._keys.candidates(key_id) if _serves(key, algorithm)]
        if len(keys) != 1:
            msg = f"{len(keys)} keys of the issuer fit the token, where one must"
            raise RefusedTokenError(msg)
        claims = self._decode(token, keys[0], algorithm)
        self._check_audience(claims, frozenset(audiences))
        return claims

    def _decode(self, token: str, key: Jwk, algorithm: str) -> Claims:
        try:
            return jwt.decode(
                token,
                jwt.PyJWK.from_dict(dict(key), algorithm=algorithm),
                algorithms=[algorithm],
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                # The audience is checked below: the right one depends on the other claims.
                options={"require": ["exp", "iss"], "verify_aud": False, "verify_sub": False},
            )
        except _FAULTS as error:
            msg = f"the token does not hold: {type(error).__name__}"
            raise RefusedTokenError(msg) from error

    def _check_audience(self, claims: Claims, accepted: frozenset[str]) -> None:
        named, client = claims.get("aud"), claims.get("client_id")
        if named is None and isinstance(client, str) and client in self._client_ids:
            return
        values = named if isinstance(named, list) else [named]
        if not any(isinstance(value, str) and value in accepted for value in values):
            raise RefusedTokenError("the token is for another audience")


def _header(token: str) -> tuple[str, str | None]:
    try:
        header = jwt.get_unverified_header(token)
    except _FAULTS as error:
        msg = f"the token cannot be taken apart: {type(error).__name__}"
        raise RefusedTokenError(msg) from error
    algorithm = header.get("alg")
    if not any(algorithm in algorithms for algorithms in ALGORITHMS.values()):
        raise RefusedTokenError("the token is not signed with an algorithm that is accepted here")
    return str(algorithm), header.get("kid")


def _serves(key: Jwk, algorithm: str) -> bool:
    return (
        algorithm in ALGORITHMS.get(str(key.get("kty")), ())
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    )
