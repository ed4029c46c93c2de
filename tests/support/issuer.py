"""An OIDC issuer on loopback: real HTTP, real keys, discovery, registration, PKCE and audience-bound tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

Json = dict[str, Any]
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_KEY_BITS: Final = 2048


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key pair with the id and algorithm under which it signs."""

    kid: str
    algorithm: str
    private: PrivateKey

    @property
    def jwk(self) -> Json:
        """The public half, as the issuer publishes it."""
        kind = (
            jwt.algorithms.RSAAlgorithm if isinstance(self.private, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
        )
        found: Json = json.loads(kind.to_jwk(self.private.public_key()))  # type: ignore[arg-type]  # matched above
        return {**found, "kid": self.kid, "alg": self.algorithm, "use": "sig"}

    @property
    def public_pem(self) -> bytes:
        """The public half as text, which an attacker has too."""
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


def rsa_key(kid: str) -> SigningKey:
    return SigningKey(kid, "RS256", rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS))


def ec_key(kid: str) -> SigningKey:
    return SigningKey(kid, "ES256", ec.generate_private_key(ec.SECP256R1()))


@dataclass(slots=True)
class Issuer:
    """Start it by entering it; it may be stopped and started again at the same address."""

    keys: list[SigningKey] = field(default_factory=lambda: [rsa_key("one")])
    claims: Json = field(default_factory=lambda: {"sub": "ana", "teams": ["support"], "scope": "knowledge:read"})
    documents: Json = field(default_factory=dict)
    """Paths whose answer is given here instead."""
    redirects: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    logins: list[Json] = field(default_factory=list)
    """The parameters of each authorization request."""
    port: int = 0
    _server: ThreadingHTTPServer | None = None
    _codes: dict[str, Json] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        self._server = _Server(("127.0.0.1", self.port), self)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def token(
        self, audience: object, *, signed_by: SigningKey | None = None, headers: Json | None = None, **claims: object
    ) -> str:
        """A token; a claim given as `None` is left out."""
        signer, now = signed_by or self.keys[-1], int(time.time())
        usual = {**self.claims, "iss": self.url, "aud": audience, "iat": now, "nbf": now, "exp": now + 600}
        payload = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return jwt.encode(
            payload, signer.private, algorithm=signer.algorithm, headers={"kid": signer.kid, **(headers or {})}
        )

    # What its server answers

    def document(self, path: str) -> object | None:
        """A JSON document at a path."""
        self.requests.append(path)
        if path in self.documents:
            found: object = self.documents[path]
            return found
        if path in {"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"}:
            return self._metadata()
        return {"keys": [key.jwk for key in self.keys]} if path == "/jwks" else None

    def login(self, query: str) -> str:
        """Where an authorization request is sent back to: everyone is let in."""
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        assert asked["code_challenge_method"] == "S256"
        self.logins.append(asked)
        code = secrets.token_urlsafe(12)
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked.get('state', ''), 'iss': self.url})}"

    def redeem(self, form: str) -> Json:
        """A token for a code and the PKCE verifier that goes with it."""
        given = {name: values[0] for name, values in parse_qs(form).items()}
        asked = self._codes.pop(given["code"])
        digest = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).rstrip(b"=")
        assert digest.decode() == asked["code_challenge"]
        assert given.get("resource") == asked.get("resource")
        token = self.token(asked.get("resource"), scope=asked.get("scope"), client_id=asked["client_id"])
        return {"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": asked.get("scope", "")}

    def _metadata(self) -> Json:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], issuer: Issuer) -> None:
        super().__init__(address, _Requests)
        self.issuer = issuer


class _Requests(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/authorize":
            self._send(302, b"", Location=self.server.issuer.login(parts.query))
            return
        if elsewhere := self.server.issuer.redirects.get(parts.path):
            self._send(302, b"", Location=elsewhere)
            return
        found = self.server.issuer.document(parts.path)
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self._send(404 if found is None else 200, body)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.path == "/register":
            self._send(201, json.dumps({**json.loads(body), "client_id": "registered"}).encode())
        else:
            self._send(200, json.dumps(self.server.issuer.redeem(body)).encode())

    def log_message(self, *_arguments: object) -> None:
        pass

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
