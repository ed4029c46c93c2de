"""Where a dataset is, and the library's options for reaching it."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.store.options import can_connect, is_local, normalize_uri, storage_options_from

LIMITS = storage_options_from({})


@pytest.mark.parametrize("uri", ["s3://bucket/data", "db://name", "memory://"])
def test_a_uri_stays_as_it_is_and_can_be_connected_to(uri: str) -> None:
    assert (is_local(uri), normalize_uri(uri), can_connect(uri)) == (False, uri, True)


def test_a_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert normalize_uri("db") == str(tmp_path / "db")
    assert normalize_uri("~/data") == str(tmp_path / "home" / "data")
    assert normalize_uri(str(tmp_path)) == str(tmp_path)


def test_only_a_folder_that_exists_can_be_connected_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    assert can_connect(str(tmp_path))
    assert not can_connect(str(tmp_path / "missing"))
    assert not can_connect(str(tmp_path / "file"))


def test_without_variables_only_the_time_limits_are_set() -> None:
    assert set(LIMITS) == {"connect_timeout", "timeout", "client_max_retries", "client_retry_timeout"}


def test_the_variable_of_the_service_comes_before_the_general_one_and_an_empty_one_counts_as_missing() -> None:
    both = {
        "AWS_ENDPOINT_URL_S3": "https://s3.local",
        "AWS_ENDPOINT_URL": "https://aws.local",
        "AWS_REGION": "eu-west-1",
    }
    assert storage_options_from(both) == {**LIMITS, "endpoint": "https://s3.local", "region": "eu-west-1"}
    general = {**both, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-3"}
    assert storage_options_from(general) == {**LIMITS, "endpoint": "https://aws.local", "region": "eu-west-3"}


def test_only_an_endpoint_without_tls_allows_it() -> None:
    plain = storage_options_from({"AWS_ENDPOINT_URL": "http://127.0.0.1:9000"})
    assert plain == {**LIMITS, "endpoint": "http://127.0.0.1:9000", "allow_http": "true"}
