"""Options and argument types that several commands share, declared once."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

import click

from knowledge.embedding.providers import LOCAL
from knowledge.scopes import MAX_SCOPES, Scope
from knowledge.text import is_unicode
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.session import Session, Target, create_target

P = ParamSpec("P")
R = TypeVar("R")
Command = Callable[..., Any]


class IdType(click.ParamType[str]):
    """An id or a name: valid Unicode with more than whitespace in it, taken exactly as given."""

    name = "id"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse a value that could never be found again."""
        if not value.strip():
            self.fail("It must not be empty or blank.", param, ctx)
        if not is_unicode(value):
            self.fail("It must be valid UTF-8.", param, ctx)
        return value


ID: Final = IdType()

_MISSPELLED_S3: Final = re.compile("(?i:s3)(?!://)(:/*|//+)|S3://")
"""Slips that would count as the name of a folder."""

base_option: Final = click.option("--base", "base_id", type=ID, required=True, help="Id of the knowledge base.")
optional_base: Final = click.option("--base", "base_id", type=ID, help="Id of the knowledge base.")


def target_options(command: Command) -> Command:
    """Add `--uri` and `--embedding`, passed as `target`, and `--json`."""

    @click.option("--uri", envvar="LANCEDB_URI", show_envvar=True, required=True, help="Dataset: a folder or s3://….")
    @click.option("--embedding", envvar="EMBEDDING", show_envvar=True, default=LOCAL, show_default=True, help=_MODEL)
    @click.option("--json", is_flag=True, expose_value=False, is_eager=True, callback=_set_json, help=_JSON)
    @functools.wraps(command)
    def wrapper(*args: object, uri: str, embedding: str, **options: object) -> object:
        return command(*args, target=_create_target(uri, embedding), **options)

    return wrapper


_MODEL: Final = "Embedding model: local (quality), local-small (speed), or bedrock:MODEL_ID[@DIMENSIONS]."
_JSON: Final = "Print one JSON document."


def one_scope(command: Command) -> Command:
    """Add `--owner` and `--team`, of which exactly one must be given, passed as `scope`."""

    @functools.wraps(command)
    def wrapper(*args: object, owner: tuple[str, ...], team: tuple[str, ...], **options: object) -> object:
        scopes = _collect_scopes(owner, team)
        if len(scopes) != 1:
            raise click.UsageError("Give exactly one of --owner ID and --team ID: an item belongs to one of them.")
        return command(*args, scope=scopes[0], **options)

    return _add_scope_options(wrapper)


def any_scopes(command: Command) -> Command:
    """Add `--owner` and `--team`, of which any number may be given but not none, passed as `scopes`."""

    @functools.wraps(command)
    def wrapper(*args: object, owner: tuple[str, ...], team: tuple[str, ...], **options: object) -> object:
        scopes = _collect_scopes(owner, team)
        if not scopes:
            raise click.UsageError("Give --owner ID or --team ID, each as often as needed.")
        if len(scopes) > MAX_SCOPES:
            raise click.UsageError(f"{len(scopes)} owners and teams given; {MAX_SCOPES} is the limit.")
        return command(*args, scopes=scopes, **options)

    return _add_scope_options(wrapper)


def optional_scope(command: Command) -> Command:
    """Add `--owner` and `--team`, of which at most one may be given, passed as `scope`; `None` stands for all."""

    @functools.wraps(command)
    def wrapper(*args: object, owner: tuple[str, ...], team: tuple[str, ...], **options: object) -> object:
        scopes = _collect_scopes(owner, team)
        if len(scopes) > 1:
            raise click.UsageError("Give one --owner ID or --team ID at most.")
        return command(*args, scope=scopes[0] if scopes else None, **options)

    return _add_scope_options(wrapper)


def _add_scope_options(command: Command) -> Command:
    owner = click.option("--owner", type=ID, multiple=True, metavar="ID", help="Id of the owner whose knowledge it is.")
    team = click.option("--team", type=ID, multiple=True, metavar="ID", help="Id of the team whose knowledge it is.")
    return owner(team(command))


def _collect_scopes(owners: tuple[str, ...], teams: tuple[str, ...]) -> tuple[Scope, ...]:
    scopes = [*(Scope("owner", owner) for owner in owners), *(Scope("team", team) for team in teams)]
    return tuple(dict.fromkeys(scopes))


def _create_target(uri: str, embedding: str) -> Target:
    if not uri.strip():
        raise click.UsageError("--uri must name a folder or an s3:// address.")
    if slip := _MISSPELLED_S3.match(uri):
        raise click.UsageError(f"--uri {uri!r} is no address. Did you mean 's3://{uri[slip.end() :]}'?")
    try:
        session = click.get_current_context().ensure_object(Session)
        return create_target(session, uri.removeprefix("file://"), embedding)
    except ValueError as error:
        raise click.UsageError(f"--embedding: {error}.") from None


def _set_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    session = ctx.find_object(Session)
    if session is not None:
        session.output.as_json = value


def finish(code: ExitCode) -> None:
    """End the command with an exit code."""
    if code:
        raise click.exceptions.Exit(int(code))


def format_example(*lines: str) -> str:
    """The end of a help text: command lines to copy, which click does not wrap."""
    return "\b\n" + "\n".join(["Example:", *(f"  {line}" for line in lines)])
