"""What the template becomes in the cloud: after SAM's own transform, for every choice of parameters."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

import pytest

from tests.architecture.source import ROOT
from tests.support.template import MANAGED_ACTIONS, Json, Stack, raw_template, transform

DOMAIN: Final = {"DomainName": "mcp.example.com", "CertificateArn": "arn:certificate", "HostedZoneId": "Z1"}
EVERYTHING: Final = {
    **DOMAIN,
    "CreateUserPool": "yes",
    "DatasetBucket": "our-data",
    "DatasetPrefix": "knowledge/live",
    "DatasetKeyArn": "arn:aws:kms:eu-central-1:123456789012:key/1",
    "BedrockModelArn": "arn:aws:bedrock:eu-central-1::foundation-model/amazon.titan-embed-text-v2:0",
    "Tracing": "on",
    "AccessLogs": "on",
    "AlarmTopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms",
    "ReservedConcurrency": "20",
    "Architecture": "x86_64",
}
CHOICES: Final[dict[str, dict[str, str]]] = {
    "as it comes": {"Issuer": "https://auth.example.com"},
    "a domain": {"Issuer": "https://auth.example.com", **DOMAIN},
    "a first trial": {"CreateUserPool": "yes"},
    "everything": EVERYTHING,
}
choices = pytest.mark.parametrize("parameters", CHOICES.values(), ids=tuple(CHOICES))

# Everything that the function's roles may do, however it is asked for.
PERMITTED: Final = {
    "s3:GetObject",
    "s3:ListBucket",
    "ssm:GetParameter",
    "kms:Decrypt",
    "bedrock:InvokeModel",
    *("logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"),
    *("cloudwatch:PutMetricData", "xray:PutTraceSegments", "xray:PutTelemetryRecords"),
}
# Where AWS itself knows no narrower resource.
RESOURCELESS: Final = {"xray:PutTraceSegments", "xray:PutTelemetryRecords", "cloudwatch:PutMetricData"}


@dataclass(frozen=True, slots=True)
class Permission:
    """One action that a role allows, and on what."""

    role: str
    action: str
    resource: str


def permissions(stack: Stack) -> Iterator[Permission]:
    """All that the roles of a stack allow, by inline policies, attached policies and managed ones."""
    for role, resource in stack.of_type("AWS::IAM::Role").items():
        for policy in resource.get("Policies", []):
            yield from _permissions(role, policy["PolicyDocument"])
        for arn in resource.get("ManagedPolicyArns", []):
            name = str(arn).rpartition("/")[2]
            # An unknown managed policy counts as one that permits everything.
            for action in MANAGED_ACTIONS.get(name, ("*",)):
                yield Permission(role, action, "arn:aws:logs:*" if action.startswith("logs:") else "*")
    for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy"):
        for name, resource in stack.of_type(kind).items():
            yield from _permissions(name, resource["PolicyDocument"])


def _permissions(role: str, document: Json) -> Iterator[Permission]:
    for statement in _as_list(document["Statement"]):
        if statement["Effect"] == "Allow":
            assert not {"NotAction", "NotResource"} & set(statement)
            for action in _as_list(statement["Action"]):
                for resource in _as_list(statement["Resource"]):
                    yield Permission(role, action, resource)


def _as_list(value: Any) -> list[Any]:  # noqa: ANN401 - one or several of anything
    return value if isinstance(value, list) else [value]


def too_much(found: Iterator[Permission]) -> set[str]:
    """The actions that are not permitted, or not on everything."""
    return {
        one.action
        for one in found
        if one.action not in PERMITTED or (one.resource == "*" and one.action not in RESOURCELESS)
    }


def build(parameters: dict[str, str]) -> Stack:
    """The stack in the cloud; the transform is slow, and the same for all tests of one choice."""
    return _build(tuple(sorted(parameters.items())))


@cache
def _build(parameters: tuple[tuple[str, str], ...]) -> Stack:
    return Stack(transform(**dict(parameters)), **dict(parameters))


@choices
def test_no_role_may_write_delete_or_do_anything_wide(parameters: dict[str, str]) -> None:
    assert too_much(permissions(build(parameters))) == set()


def test_the_function_reads_one_prefix_and_one_parameter_and_no_more() -> None:
    found = {(one.action, one.resource) for one in permissions(build(EVERYTHING)) if one.role == "SearchKnowledgeRole"}
    assert found == {
        ("logs:CreateLogStream", "arn:aws:logs:eu-central-1:123456789012:log-group:SearchKnowledgeLogs:*"),
        ("logs:PutLogEvents", "arn:aws:logs:eu-central-1:123456789012:log-group:SearchKnowledgeLogs:*"),
        ("s3:GetObject", "arn:aws:s3:::our-data/knowledge/live/*"),
        ("s3:ListBucket", "arn:aws:s3:::our-data"),
        ("ssm:GetParameter", "arn:aws:ssm:eu-central-1:123456789012:parameter/search-knowledge/switch"),
        ("kms:Decrypt", EVERYTHING["DatasetKeyArn"]),
        ("bedrock:InvokeModel", EVERYTHING["BedrockModelArn"]),
        ("xray:PutTraceSegments", "*"),
        ("xray:PutTelemetryRecords", "*"),
    }


def test_listing_is_bound_to_the_prefix() -> None:
    role = build(EVERYTHING).of_type("AWS::IAM::Role")["SearchKnowledgeRole"]
    statements = [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]
    (listing,) = [one for one in statements if one["Action"] == "s3:ListBucket"]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["knowledge/live", "knowledge/live/*"]}}


WIDE: Final[dict[str, tuple[Any, str]]] = {
    "a policy template": ({"S3CrudPolicy": {"BucketName": "data"}}, "s3:DeleteObject"),
    "a managed policy": ("arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess", "*"),
    "a wildcard": (
        {"Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "arn:aws:s3:::data/*"}]},
        "s3:Get*",
    ),
    "a right on everything": (
        {"Statement": [{"Effect": "Allow", "Action": ["ssm:GetParameter"], "Resource": "*"}]},
        "ssm:GetParameter",
    ),
}


@pytest.mark.parametrize(("policy", "action"), WIDE.values(), ids=tuple(WIDE))
def test_a_right_too_much_is_caught_however_it_is_given(policy: Any, action: str) -> None:  # noqa: ANN401 - any policy
    template = raw_template()
    function = template["Resources"]["AuthorizerFunction"]["Properties"]
    del function["Role"]
    function["Policies"] = [policy]
    assert action in too_much(permissions(Stack(transform(template, **CHOICES["as it comes"]))))


def references(value: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a template
    """The names that a part of a template refers to."""
    if isinstance(value, list):
        for one in value:
            yield from references(one)
    elif isinstance(value, dict):
        for name, argument in value.items():
            if name in {"Ref", "DependsOn"}:
                yield from _as_list(argument)
            elif name == "Fn::GetAtt":
                yield _as_list(argument)[0].partition(".")[0]
            elif name == "Fn::Sub":
                text = _as_list(argument)[0]
                yield from (found.partition(".")[0] for found in re.findall(r"\$\{([^!}]+)\}", text))
                yield from references(_as_list(argument)[1:])
            else:
                yield from references(argument)


def circle(template: Json) -> list[str]:
    """Resources that refer to each other in a circle, which CloudFormation refuses."""
    resources = template["Resources"]
    graph = {name: set(references(resource)) & set(resources) for name, resource in resources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@choices
def test_no_resources_refer_to_each_other_in_a_circle(parameters: dict[str, str]) -> None:
    assert circle(transform(**parameters)) == []


def test_an_api_that_names_its_own_address_is_caught() -> None:
    template = raw_template()
    template["Resources"]["Api"]["Properties"]["Description"] = {"Fn::Sub": "https://${Api}.execute-api"}
    assert circle(transform(template, **CHOICES["as it comes"])) != []


@choices
def test_the_gateway_calls_the_alias_whose_versions_start_from_a_snapshot(parameters: dict[str, str]) -> None:
    stack = build(parameters)
    function = stack.of_type("AWS::Lambda::Function")["SearchKnowledgeFunction"]
    assert function["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert function["Timeout"] < 29
    assert function["Architectures"] == [parameters.get("Architecture", "arm64")]
    (alias,) = stack.of_type("AWS::Lambda::Alias").values()
    assert (alias["FunctionName"], alias["Name"]) == ("SearchKnowledgeFunction", "live")
    body = stack.of_type("AWS::ApiGateway::RestApi")["Api"]["Body"]
    uri = body["paths"]["/mcp"]["post"]["x-amazon-apigateway-integration"]["uri"]
    assert "SearchKnowledgeFunctionAliaslive" in uri


@choices
def test_a_bucket_that_is_made_is_private_versioned_encrypted_and_reached_by_tls_alone(
    parameters: dict[str, str],
) -> None:
    stack = build(parameters)
    buckets = list(stack.of_type("AWS::S3::Bucket").values())
    assert len(buckets) == (0 if "DatasetBucket" in parameters else 1)
    for bucket in buckets:
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
        assert bucket["BucketEncryption"]
        (policy,) = stack.of_type("AWS::S3::BucketPolicy").values()
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


@choices
def test_every_log_has_an_end(parameters: dict[str, str]) -> None:
    stack = build(parameters)
    groups = stack.of_type("AWS::Logs::LogGroup")
    assert all(int(group["RetentionInDays"]) > 0 for group in groups.values())
    for function in stack.of_type("AWS::Lambda::Function").values():
        assert function["LoggingConfig"]["LogGroup"] in groups
        assert function["LoggingConfig"]["LogFormat"] == "JSON"


@choices
def test_a_burst_holds_a_clients_handshake(parameters: dict[str, str]) -> None:
    handshake = 8
    for plan in build(parameters).of_type("AWS::ApiGateway::UsagePlan").values():
        assert int(plan["Throttle"]["BurstLimit"]) >= handshake


@choices
def test_there_is_no_stage_but_prod_and_its_throttle(parameters: dict[str, str]) -> None:
    stack = build(parameters)
    stages = stack.of_type("AWS::ApiGateway::Stage")
    assert {stage["StageName"] for stage in stages.values()} == {"prod"}
    assert [one for one in stack.of_type("AWS::ApiGateway::Deployment").values() if "StageName" in one] == []
    for stage in stages.values():
        (settings,) = stage["MethodSettings"]
        assert settings["ThrottlingRateLimit"] > 0


@choices
def test_the_dashboard_can_be_read_and_shows_what_operators_ask_for(parameters: dict[str, str]) -> None:
    (dashboard,) = build(parameters).of_type("AWS::CloudWatch::Dashboard").values()
    titles = [widget["properties"]["title"] for widget in json.loads(dashboard["DashboardBody"])["widgets"]]
    assert titles == ["Calls by mode", "Latency", "Cold starts", "Errors", "Usage per caller"]


def test_every_alarm_tells_the_topic_where_there_is_one() -> None:
    alarms = build(EVERYTHING).of_type("AWS::CloudWatch::Alarm")
    assert {tuple(alarm["AlarmActions"]) for alarm in alarms.values()} == {(EVERYTHING["AlarmTopicArn"],)}
    assert set(alarms) == {"ErrorsAlarm", "ThrottlesAlarm", "SlownessAlarm", "UnavailableAlarm", "DoorAlarm"}


def test_the_variables_are_those_that_the_functions_read() -> None:
    stack = Stack(**CHOICES["as it comes"])
    for function, package in {
        "SearchKnowledgeFunction": "search_knowledge",
        "AuthorizerFunction": "authorizer",
    }.items():
        sources = [path.read_text() for path in sorted((ROOT / "functions" / package).glob("*.py"))]
        core = [path.read_text() for path in sorted((ROOT / "layers/knowledge/knowledge").glob("*.py"))]
        text = "\n".join(sources + core)
        ours = {name for name in stack.environment(function) if not name.startswith(("POWERTOOLS_", "OMP_"))}
        assert {name for name in ours if f'"{name}"' not in text} == set()


def test_the_domain_has_no_base_path_and_a_record_where_the_zone_is_known() -> None:
    stack = build(EVERYTHING)
    (mapping,) = stack.of_type("AWS::ApiGateway::BasePathMapping").values()
    assert "BasePath" not in mapping
    (record,) = stack.of_type("AWS::Route53::RecordSet").values()
    assert record["Name"] == "mcp.example.com"
    assert build(CHOICES["as it comes"]).of_type("AWS::ApiGateway::DomainName") == {}


def test_a_first_trial_brings_its_own_issuer_whose_scope_and_clients_the_authorizer_knows() -> None:
    variables = Stack(CreateUserPool="yes").environment("AuthorizerFunction")
    assert variables["ISSUER"] == "https://cognito-idp.eu-central-1.amazonaws.com/UserPool"
    assert variables["REQUIRED_SCOPE"] == "knowledge/read"
    assert variables["CLIENT_IDS"] == "UserPoolClient"
    assert variables["TEAMS_CLAIM"] == "cognito:groups"


def test_each_security_check_left_out_has_its_reason() -> None:
    lines = (ROOT / ".checkov.yaml").read_text().partition("skip-check:\n")[2].splitlines()
    assert lines
    assert [line for line in lines if not re.fullmatch(r"  - CKV_AWS_\d+ +# .{20,}", line)] == []


def test_the_sam_settings_can_be_read() -> None:
    settings = tomllib.loads((ROOT / "samconfig.toml").read_text())
    assert settings["default"]["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM"
