"""The authorizer's failures, and the gateway's status for each.

    AuthorizerError
    ├── RefusedTokenError       no token, or a bad one          401
    ├── RefusedCallerError      a valid token without a right  403
    └── IssuerUnavailableError  the token cannot be verified    500

Messages say which rule failed and are logged; none quotes the token.
"""

from __future__ import annotations


class AuthorizerError(Exception):
    """Base of all foreseen faults."""


class RefusedTokenError(AuthorizerError):
    """The request has no token, or an invalid one."""


class RefusedCallerError(AuthorizerError):
    """The token is valid, but lacks the scope, or its claims name no owner or are ambiguous."""


class IssuerUnavailableError(AuthorizerError):
    """The issuer's keys cannot be fetched, so that the token cannot be verified."""
