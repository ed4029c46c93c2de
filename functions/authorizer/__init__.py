"""A Lambda authorizer that turns an issuer's bearer token into claims and a usage key.

It shares `knowledge.claims` with the function behind it, copied at build, and nothing else of the core library.
"""
