"""Options and variables that point clients at a local S3 server."""

from __future__ import annotations

from knowledge.store.options import storage_options_from
from local_s3.connection import environment, storage_options

ENDPOINT = "http://127.0.0.1:9000"


def test_a_process_with_the_variables_gets_the_same_storage_options() -> None:
    derived = storage_options_from(environment(ENDPOINT))
    given = storage_options(ENDPOINT)
    assert derived["endpoint"] == given["endpoint"] == ENDPOINT
    assert derived["allow_http"] == given["allow_http"] == "true"


def test_variables_and_options_name_the_same_region_and_keys() -> None:
    variables, options = environment(ENDPOINT), storage_options(ENDPOINT)
    assert variables["AWS_REGION"] == options["region"]
    assert variables["AWS_ACCESS_KEY_ID"] == options["aws_access_key_id"]
    assert variables["AWS_SECRET_ACCESS_KEY"] == options["aws_secret_access_key"]
