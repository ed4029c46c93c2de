"""The door's guard: a Lambda authorizer that turns an issuer's bearer token into claims and a usage key.

It stands alone: it shares no code with the tool behind it, only the form of the context that it passes on.
"""
