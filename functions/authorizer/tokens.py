"""Verify a token: kind, signature, issuer, audience, times; with the issuer's keys and asymmetric algorithms alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

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

MIN_RSA_BITS: Final = 2048
"""RFC 7518 asks for it; shorter keys have been factored."""

MAX_KEYS_TRIED: Final = 32
"""Keys that are tried for one token, a few milliseconds in all. Issuers show two or three."""

_TOKEN_TYPES: Final = frozenset({"jwt", "at+jwt"})
"""Header `typ` of an access token that has one (RFC 9068). Others are for another use: `dpop+jwt`, `logout+jwt`."""

_OTHER_USES: Final = frozenset({"id", "id_token", "refresh", "refresh_token", "offline", "logout"})
"""What issuers call tokens that are no access tokens in a claim `typ`, as Keycloak does."""

_ID_TOKEN_CLAIMS: Final = ("at_hash", "c_hash", "s_hash")

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
        claims = self._verify(token, algorithm, self._keys.candidates(key_id))
        if claims is None:
            claims = self._verify(token, algorithm, self._keys.refreshed_candidates(key_id))
        if claims is None:
            raise RefusedTokenError("no key of the issuer that is accepted here verifies the token")
        _check_use(claims)
        self._check_audience(claims, frozenset(audiences))
        return claims

    def _verify(self, token: str, algorithm: str, keys: Iterable[Jwk]) -> Claims | None:
        """The claims by the first key that verifies the signature; `None` if none does."""
        serving = (key for key in keys if _serves(key, algorithm))
        for key in islice(serving, MAX_KEYS_TRIED):
            public = _public_key(key, algorithm)
            if public is None:
                continue
            try:
                return self._decode(token, public, algorithm)
            except (jwt.InvalidSignatureError, jwt.InvalidKeyError):
                continue
            except _FAULTS as error:
                msg = f"the token does not hold: {type(error).__name__}"
                raise RefusedTokenError(msg) from error
        return None

    def _decode(self, token: str, key: jwt.PyJWK, algorithm: str) -> Claims:
        found: Claims = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=self._issuer,
            leeway=LEEWAY_SECONDS,
            # The audience is checked below: the right one depends on the other claims.
            options={"require": ["exp", "iss"], "verify_aud": False, "verify_sub": False},
        )
        return found

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
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in _TOKEN_TYPES:
        raise RefusedTokenError("the token's header says that it is no access token")
    algorithm = header.get("alg")
    if not any(algorithm in algorithms for algorithms in ALGORITHMS.values()):
        raise RefusedTokenError("the token is not signed with an algorithm that is accepted here")
    return str(algorithm), header.get("kid")


def _check_use(claims: Claims) -> None:
    """Refuse what the issuer has signed for another use, an ID token above all."""
    kind = claims.get("typ")
    other = isinstance(kind, str) and kind.lower() in _OTHER_USES
    # Cognito names the use, and a security event token (RFC 8417) holds its events.
    other = other or claims.get("token_use", "access") != "access" or isinstance(claims.get("events"), dict)
    if other or any(name in claims for name in _ID_TOKEN_CLAIMS):
        raise RefusedTokenError("the token's claims say that it is no access token")


def _public_key(key: Jwk, algorithm: str) -> jwt.PyJWK | None:
    """The key for the library; `None` if it is malformed or too short."""
    try:
        found = jwt.PyJWK.from_dict(dict(key), algorithm=algorithm)
    except (*_FAULTS, AttributeError):
        return None
    short = isinstance(found.key, (RSAPublicKey, RSAPrivateKey)) and found.key.key_size < MIN_RSA_BITS
    return None if short else found


def _serves(key: Jwk, algorithm: str) -> bool:
    return (
        algorithm in ALGORITHMS.get(str(key.get("kty")), ())
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    )
