"""Fixtures for every area of the tests."""

from __future__ import annotations

pytest_plugins = ["tests.support.bedrock", "tests.support.s3", "tests.support.tracing"]
