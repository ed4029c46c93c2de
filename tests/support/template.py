"""`template.yaml` as CloudFormation would see it: parameters given, conditions decided, references resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

import boto3
import yaml
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from tests.architecture.source import ROOT

TEMPLATE: Final = ROOT / "template.yaml"
REGION: Final = "eu-central-1"
ACCOUNT: Final = "123456789012"
PSEUDO: Final = {
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "search-knowledge",
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/search-knowledge/0000-1111-2222-3333",
}
# What the managed policies permit that a template may be given without its asking.
MANAGED_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "AWSLambdaBasicExecutionRole": ("logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"),
    "AWSXRayDaemonWriteAccess": ("xray:PutTraceSegments", "xray:PutTelemetryRecords"),
}
MANAGED_POLICIES: Final = {name: f"arn:aws:iam::aws:policy/service-role/{name}" for name in MANAGED_ACTIONS}
NO_VALUE: Final = object()

Json = dict[str, Any]


class _Loader(yaml.SafeLoader):
    """Reads `!Ref x` as `{"Ref": "x"}` and `!Sub x` as `{"Fn::Sub": x}`."""


def _intrinsic(loader: _Loader, suffix: str, node: yaml.Node) -> Json:
    name = suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
        return {name: value.split(".", 1) if suffix == "GetAtt" else value}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.MappingNode)
    return {name: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _intrinsic)


def raw_template() -> Json:
    """The template as written, its short forms spelled out."""
    found: Json = yaml.load(TEMPLATE.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader's child
    return found


def default_parameters(template: Json) -> Json:
    """What CloudFormation takes where nothing is given."""
    return {name: entry.get("Default", "") for name, entry in template.get("Parameters", {}).items()}


def transform(template: Json | None = None, /, **parameters: str) -> Json:
    """The template as SAM's own transform rewrites it: plain CloudFormation, policy templates spelled out."""
    source = deepcopy(template or raw_template())
    for resource in source["Resources"].values():
        # In the cloud the code lies in a bucket by then.
        for name in {"CodeUri", "ContentUri"} & set(resource.get("Properties", {})):
            resource["Properties"][name] = "s3://bucket/key"
    given = {**default_parameters(source), **PSEUDO, **parameters}
    translator = Translator(MANAGED_POLICIES, Parser(), boto_session=boto3.Session(region_name=REGION))
    found: Json = translator.translate(source, given)
    return found


class Stack:
    """The resources and outputs that the template gives for some parameters.

    A resource's id is its name in lower case, as for an API, whose id becomes part of a host name.
    """

    def __init__(self, template: Json | None = None, /, **parameters: str) -> None:
        self._raw = template or raw_template()
        unknown = set(parameters) - set(self._raw.get("Parameters", {}))
        assert not unknown, f"the template has no parameter {unknown}"
        self.parameters: Json = {**default_parameters(self._raw), **parameters}
        self.resources: Json = self._present("Resources")
        self.outputs: Json = {name: entry["Value"] for name, entry in self._present("Outputs").items()}

    def of_type(self, kind: str) -> Mapping[str, Json]:
        """Properties of all resources of a type, by name."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self.resources.items()
            if resource["Type"] == kind
        }

    def environment(self, function: str) -> dict[str, str]:
        """The variables of a function."""
        found: Json = self.resources[function]["Properties"]["Environment"]["Variables"]
        return {name: str(value) for name, value in found.items()}

    def _present(self, section: str) -> Json:
        return {
            name: self.resolve(entry)
            for name, entry in self._raw.get(section, {}).items()
            if self.holds(entry.get("Condition"))
        }

    def holds(self, condition: str | None) -> bool:
        """Whether a condition of the template holds."""
        return condition is None or bool(self.resolve(self._raw["Conditions"][condition]))

    def resolve(self, value: Any) -> Any:  # noqa: ANN401 - any part of a template
        """A part of the template with every intrinsic function applied."""
        if isinstance(value, list):
            return [one for one in map(self.resolve, value) if one is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            function = _FUNCTIONS.get(str(name))
            if function and (name != "Condition" or isinstance(argument, str)):
                return function(self, argument)
        resolved = ((name, self.resolve(one)) for name, one in value.items())
        return {name: one for name, one in resolved if one is not NO_VALUE}

    def reference(self, name: str) -> Any:  # noqa: ANN401 - a list for a list parameter
        """What `Ref` gives, or `GetAtt` for a dotted name."""
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in PSEUDO:
            return PSEUDO[name]
        if name in self._raw.get("Parameters", {}):
            listed = self._raw["Parameters"][name]["Type"] == "CommaDelimitedList"
            value = self.parameters[name]
            return value.split(",") if listed else value
        resource, _, attribute = name.partition(".")
        entry = self._raw["Resources"][resource]
        assert self.holds(entry.get("Condition")), f"{name} is referred to where it does not exist"
        return _attribute(self, resource, entry, attribute)


def _attribute(stack: Stack, name: str, declaration: Json, attribute: str) -> str:
    kind = declaration["Type"]
    if attribute == "Stage":
        return str(declaration["Properties"]["StageName"])
    if attribute in {"Arn", "Alias"}:
        suffix = ":live" if attribute == "Alias" else ""
        return _arn(kind, name) + suffix
    if attribute:
        return f"{name}.{attribute}".lower()
    if kind == "AWS::SSM::Parameter":
        return str(stack.resolve(declaration["Properties"]["Name"]))
    return name.lower() if kind.endswith(("::Api", "::Bucket")) else name


def _arn(kind: str, name: str) -> str:
    if kind == "AWS::Serverless::Function":
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
    if kind == "AWS::Logs::LogGroup":
        return f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}:*"
    if kind == "AWS::S3::Bucket":
        return f"arn:aws:s3:::{name.lower()}"
    return f"arn:aws:iam::{ACCOUNT}:role/{name}"


def _sub(stack: Stack, argument: Any) -> str:  # noqa: ANN401 - text, or text and a map
    text, own = (argument, {}) if isinstance(argument, str) else argument
    values = {name: stack.resolve(value) for name, value in own.items()}

    def replace(found: re.Match[str]) -> str:
        name = found[1]
        return str(values[name] if name in values else stack.reference(name))

    return re.sub(r"\$\{([^!}][^}]*)\}", replace, text)


def _if(stack: Stack, argument: list[Any]) -> Any:  # noqa: ANN401 - either branch
    return stack.resolve(argument[1] if stack.holds(argument[0]) else argument[2])


def _select(stack: Stack, argument: list[Any]) -> Any:  # noqa: ANN401 - an element
    return stack.resolve(argument[1])[int(argument[0])]


def _equals(stack: Stack, argument: list[Any]) -> bool:
    one, other = map(stack.resolve, argument)
    return str(one) == str(other)


_FUNCTIONS: Final[Mapping[str, Callable[[Stack, Any], Any]]] = {
    "Ref": lambda stack, argument: stack.reference(argument),
    "Condition": lambda stack, argument: stack.holds(argument),
    "Fn::GetAtt": lambda stack, argument: stack.reference(".".join(argument)),
    "Fn::Sub": _sub,
    "Fn::If": _if,
    "Fn::Join": lambda stack, argument: argument[0].join(map(str, stack.resolve(argument[1]))),
    "Fn::Select": _select,
    "Fn::Split": lambda stack, argument: stack.resolve(argument[1]).split(argument[0]),
    "Fn::Equals": _equals,
    "Fn::Not": lambda stack, argument: not stack.resolve(argument[0]),
    "Fn::And": lambda stack, argument: all(map(stack.resolve, argument)),
    "Fn::Or": lambda stack, argument: any(map(stack.resolve, argument)),
}
