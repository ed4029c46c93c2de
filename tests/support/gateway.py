"""API Gateway's part, played from `template.yaml` alone, so that a wrong template fails the tests.

It knows hosts, stages and domain mappings, calls the authorizer that the template wires to a method, looks up the usage
key, applies permissions, gateway responses and mock integrations, and hands proxied calls to the real handler.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from tests.support.template import ACCOUNT, REGION, Json, Stack

DEFAULT_STATUS: Final = {
    "UNAUTHORIZED": 401,
    "ACCESS_DENIED": 403,
    "INVALID_API_KEY": 403,
    "MISSING_AUTHENTICATION_TOKEN": 403,
    "AUTHORIZER_FAILURE": 500,
    "AUTHORIZER_CONFIGURATION_ERROR": 500,
    "INTEGRATION_FAILURE": 504,
}
FUNCTION_URI: Final = re.compile(r"/functions/(arn:aws:lambda:[^/]+)/invocations$")
MAX_HEADER_BYTES: Final = 10240
MAX_AUTHORIZER_BYTES: Final = 8192

Function = Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class HttpCall:
    """A request as a client sent it."""

    method: str
    host: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What the gateway sends back."""

    status: int
    headers: Mapping[str, str]
    body: str = ""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), None)


class GatewayError(Exception):
    """The gateway answers by itself, with one of its response types."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.message = message or kind


@dataclass(frozen=True, slots=True)
class _Route:
    """One API's stage, and the path below it."""

    api: str
    stage: str
    path: str
    host: str


@dataclass(slots=True)
class Gateway:
    """The stack's REST APIs. `functions` maps the template's function names to their handlers."""

    stack: Stack
    functions: Mapping[str, Function]
    calls: list[tuple[str, Json]] = field(default_factory=list)
    _remembered: dict[str, tuple[float, Json]] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, call: HttpCall) -> HttpAnswer:
        """One request, one answer, one at a time."""
        with self._turn:
            return self._answer(call)

    def _answer(self, call: HttpCall) -> HttpAnswer:
        route = self._route(call)
        if route is None:
            return HttpAnswer(403, {"Content-Type": "application/json"}, '{"message":"Forbidden"}')
        try:
            assert sum(len(name) + len(value) for name, value in call.headers) <= MAX_HEADER_BYTES
            operation = self._operation(route, call)
            context = self._authorize(route, operation, call)
            return self._integrate(route, operation, call, context)
        except GatewayError as error:
            return self._own_answer(route.api, error)

    # Where a request goes

    def _route(self, call: HttpCall) -> _Route | None:
        for name, api in self.stack.of_type("AWS::Serverless::Api").items():
            if call.host == f"{name.lower()}.execute-api.{REGION}.amazonaws.com":
                stage, _, rest = call.path.removeprefix("/").partition("/")
                shut = api.get("DisableExecuteApiEndpoint") is True or stage != api["StageName"]
                return None if shut else _Route(name, stage, f"/{rest}", call.host)
        for mapping in self.stack.of_type("AWS::ApiGateway::BasePathMapping").values():
            domain = self.stack.of_type("AWS::ApiGateway::DomainName")[mapping["DomainName"]]
            if call.host == domain["DomainName"] and not mapping.get("BasePath"):
                name = next(one for one in self.stack.resources if one.lower() == mapping["RestApiId"])
                return _Route(name, mapping["Stage"], call.path, call.host)
        return None

    def _properties(self, api: str) -> Json:
        found: Json = self.stack.resources[api]["Properties"]
        return found

    def _body(self, api: str) -> Json:
        found: Json = self._properties(api)["DefinitionBody"]
        return found

    def _operation(self, route: _Route, call: HttpCall) -> Json:
        found: Json | None = self._body(route.api)["paths"].get(route.path, {}).get(call.method.lower())
        if found is None:
            raise GatewayError("MISSING_AUTHENTICATION_TOKEN", "Missing Authentication Token")
        return found

    # Who may pass

    def _authorize(self, route: _Route, operation: Json, call: HttpCall) -> Json:
        schemes = self._body(route.api).get("components", {}).get("securitySchemes", {})
        required = [schemes[name] for group in operation.get("security", []) for name in group]
        decision: Json = {}
        for scheme in required:
            if scheme.get("x-amazon-apigateway-authtype") == "custom":
                decision = self._decide(route, scheme["x-amazon-apigateway-authorizer"], call)
        if any(scheme["name"] == "x-api-key" for scheme in required):
            self._check_usage_key(route, decision.get("usageIdentifierKey"))
        context = {"principalId": decision.get("principalId"), **decision.get("context", {})}
        if not all(isinstance(value, (str, int, float, bool, type(None))) for value in context.values()):
            raise GatewayError("AUTHORIZER_CONFIGURATION_ERROR")
        return context

    def _decide(self, route: _Route, wiring: Json, call: HttpCall) -> Json:
        assert wiring["type"] == "request"
        identity = wiring["identitySource"].removeprefix("method.request.header.")
        found = call.values(identity)
        if not any(found):
            raise GatewayError("UNAUTHORIZED", "Unauthorized")
        key = "\n".join(found)
        until, decision = self._remembered.get(key, (0.0, {}))
        if time.monotonic() >= until:
            decision = self._ask_authorizer(route, wiring, call)
            self._remembered[key] = (time.monotonic() + wiring["authorizerResultTtlInSeconds"], decision)
        if not _allows(decision, _method_arn(route, call)):
            raise GatewayError("ACCESS_DENIED", "User is not authorized to access this resource")
        return decision

    def _ask_authorizer(self, route: _Route, wiring: Json, call: HttpCall) -> Json:
        arn = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{route.api.lower()}/authorizers/abc123"
        function = self._permitted_function(wiring["authorizerUri"], arn)
        event = {"type": "REQUEST", "methodArn": _method_arn(route, call), **_event(route, call, {})}
        self.calls.append((function, event))
        try:
            answer = self.functions[function](event)
        except Exception as error:
            kind = "UNAUTHORIZED" if str(error) == "Unauthorized" else "AUTHORIZER_FAILURE"
            raise GatewayError(kind, "Unauthorized" if kind == "UNAUTHORIZED" else "") from error
        if len(json.dumps(answer)) > MAX_AUTHORIZER_BYTES:
            raise GatewayError("AUTHORIZER_CONFIGURATION_ERROR")
        return answer

    def _check_usage_key(self, route: _Route, key: object) -> None:
        assert self._properties(route.api).get("ApiKeySourceType") == "AUTHORIZER"
        keys = self.stack.of_type("AWS::ApiGateway::ApiKey")
        plans = self.stack.of_type("AWS::ApiGateway::UsagePlan")
        for entry in self.stack.of_type("AWS::ApiGateway::UsagePlanKey").values():
            stages = plans[entry["UsagePlanId"]]["ApiStages"]
            served = {"ApiId": route.api.lower(), "Stage": route.stage} in stages
            if served and key is not None and keys[entry["KeyId"]]["Value"] == key:
                return
        raise GatewayError("INVALID_API_KEY", "Forbidden")

    # What answers

    def _integrate(self, route: _Route, operation: Json, call: HttpCall, context: Json) -> HttpAnswer:
        integration = operation["x-amazon-apigateway-integration"]
        if integration["type"] == "mock":
            return self._answer_mock(route, operation, integration)
        assert (integration["type"], integration["httpMethod"]) == ("aws_proxy", "POST")
        function = self._permitted_function(integration["uri"], _method_arn(route, call))
        event = _event(route, call, context)
        self.calls.append((function, event))
        answer = self.functions[function](event)
        headers = {_rename(name): str(value) for name, value in answer.get("headers", {}).items()}
        return HttpAnswer(answer["statusCode"], headers, answer.get("body") or "")

    def _permitted_function(self, uri: str, caller: str) -> str:
        """The name of the function behind a URI, if a permission lets this caller invoke exactly that one."""
        found = FUNCTION_URI.search(uri)
        assert found, uri
        for permission in self.stack.of_type("AWS::Lambda::Permission").values():
            name = permission["FunctionName"]
            arn = name if name.startswith("arn:") else f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
            if arn == found[1] and fnmatchcase(caller, permission["SourceArn"]):
                return arn.split(":")[6]
        raise GatewayError("INTEGRATION_FAILURE", "Internal server error")

    def _answer_mock(self, route: _Route, operation: Json, integration: Json) -> HttpAnswer:
        json.loads(integration["requestTemplates"]["application/json"])
        answer = integration["responses"]["default"]
        status = str(answer["statusCode"])
        declared = operation["responses"][status].get("headers", {})
        headers = {"Content-Type": "application/json"}
        for name, value in answer.get("responseParameters", {}).items():
            plain = name.removeprefix("method.response.header.")
            assert plain in declared, f"{plain} is mapped but not declared"
            headers[plain] = _static(value)
        body = answer.get("responseTemplates", {}).get("application/json", "")
        return HttpAnswer(int(status), headers, self._render(route, body))

    def _render(self, route: _Route, text: str) -> str:
        known = {"$context.domainName": route.host, "$context.stage": route.stage}
        for name, value in self._properties(route.api).get("Variables", {}).items():
            known[f"$stageVariables.{name}"] = value
        for name, value in known.items():
            text = text.replace(name, value)
        assert "$" not in text, text
        return text

    def _own_answer(self, api: str, error: GatewayError) -> HttpAnswer:
        responses = self._properties(api).get("GatewayResponses", {})
        status = DEFAULT_STATUS[error.kind]
        response = responses.get(error.kind) or responses.get(f"DEFAULT_{status // 100}XX", {})
        mapped = response.get("ResponseParameters", {}).get("Headers", {})
        headers = {name: _static(value) for name, value in mapped.items()}
        body = response.get("ResponseTemplates", {}).get("application/json", '{"message":$context.error.messageString}')
        body = body.replace("$context.error.messageString", json.dumps(error.message))
        headers |= {"Content-Type": "application/json", "x-amzn-ErrorType": error.kind}
        return HttpAnswer(int(response.get("StatusCode", status)), headers, body)


def _method_arn(route: _Route, call: HttpCall) -> str:
    path = route.path.removeprefix("/")
    return f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{route.api.lower()}/{route.stage}/{call.method}/{path}"


def _allows(decision: Json, method_arn: str) -> bool:
    statements = decision["policyDocument"]["Statement"]
    matching = [one for one in statements if fnmatchcase(method_arn, one["Resource"])]
    return bool(matching) and all(one["Effect"] == "Allow" for one in matching)


def _event(route: _Route, call: HttpCall, authorizer: Json) -> Json:
    several: dict[str, list[str]] = {}
    for name, value in call.headers:
        several.setdefault(name, []).append(value)
    return {
        "resource": route.path,
        "path": route.path,
        "httpMethod": call.method,
        "headers": {name: values[-1] for name, values in several.items()},
        "multiValueHeaders": several,
        "requestContext": {
            "domainName": route.host,
            "stage": route.stage,
            "path": call.path,
            "httpMethod": call.method,
            "requestId": "gateway-request",
            "authorizer": authorizer,
        },
        "body": call.body or None,
        "isBase64Encoded": False,
    }


def _rename(name: str) -> str:
    # The gateway keeps this header for itself.
    return "x-amzn-Remapped-www-authenticate" if name.lower() == "www-authenticate" else name


def _static(value: str) -> str:
    """A fixed value in a mapping stands in single quotes."""
    assert value[:1] == value[-1:] == "'", value
    return value[1:-1]
