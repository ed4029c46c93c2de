"""The `knowledge` command: composition root of the publishing side, the one place that reads the environment."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import click
from platformdirs import user_cache_path

from knowledge.embedding.base import EmbeddingUnavailableError
from knowledge.errors import KnowledgeError
from knowledge.labels import make_lines_visible, make_visible
from publish_knowledge.cli.interrupts import exit_at_signals
from publish_knowledge.cli.options import format_example
from publish_knowledge.cli.output import ExitCode, find_exit_code
from publish_knowledge.cli.session import Session
from publish_knowledge.embedding.embedder import EmbeddingError

APPLICATION: Final = "search-knowledge"
CACHE_VARIABLE: Final = "KNOWLEDGE_CACHE_DIR"

_EXAMPLE: Final = format_example(
    "knowledge publish docs/ --uri ./dataset --team support --base handbook",
    'knowledge search "how do refunds work" --uri ./dataset --team support',
)
_CODES: Final = ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in ExitCode)

COMMANDS: Final = {
    "archive": ("items:archive", "Remove an item, or a whole base, from queries and reads."),
    "doctor": ("maintenance:doctor", "Find faults in a dataset."),
    "eval": ("evaluate:evaluate", "Measure how well questions find the items that answer them."),
    "history": ("items:history", "List the revisions of an item, latest first."),
    "list": ("items:items", "List the items of an owner or a team."),
    "optimize": ("maintenance:optimize", "Keep queries fast."),
    "publish": ("publish:publish", "Publish folders, files or other sources into a base."),
    "purge": ("maintenance:purge", "Remove everything of an owner or a team permanently."),
    "read": ("reading:read", "Read a window of one item's text."),
    "reindex": ("maintenance:reindex", "Renew the search terms of what is published."),
    "restore": ("items:restore", "Make an archived item, or a whole base, readable again."),
    "search": ("reading:search", "Search the published items of owners and teams."),
    "sync": ("sources.sync:sync", "Make a base equal to its sources."),
}
"""Where each command is, and its first sentence: importing all commands takes longer than everything else that
`knowledge --help` does, so that a command is imported when it is used."""


class KnowledgeGroup(click.Group):
    """A command group that reports failures as sentences and exit codes, never as tracebacks."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of all commands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import a command; `None` where there is none of that name."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def make_context(self, *args: Any, **options: Any) -> click.Context:  # noqa: ANN401 - click's signature
        """Parse the options of the group."""
        with _visible_usage_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; end it with the exit code of its failure, if it fails."""
        try:
            with _visible_usage_errors():
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            self._fail(ctx, ExitCode.INTERRUPTED, "Interrupted. The same command again goes on where this one stopped.")
        except KnowledgeError as error:
            self._fail(ctx, find_exit_code(error), _find_reason(error), error)
        except EmbeddingError as error:
            self._fail(ctx, ExitCode.STORAGE_UNAVAILABLE, str(error))
        except Exception as error:  # noqa: BLE001 - the outermost catch: a sentence instead of a traceback
            if ctx.params.get("debug"):
                click.echo(make_lines_visible(traceback.format_exc()), err=True)
            kind = type(error).__name__
            self._fail(ctx, ExitCode.UNEXPECTED, f"Unexpected {kind}. Run `knowledge --debug …` to see where.")
        return None

    def _fail(self, ctx: click.Context, code: ExitCode, message: str, error: KnowledgeError | None = None) -> None:
        ctx.ensure_object(Session).output.failure(code, message, error)
        raise click.exceptions.Exit(int(code)) from error


class _LabelFormatter(logging.Formatter):
    """Messages of libraries may hold file names too."""

    def format(self, record: logging.LogRecord) -> str:
        return make_lines_visible(super().format(record))


@contextmanager
def _visible_usage_errors() -> Iterator[None]:
    """Click quotes arguments in its messages as they were given."""
    try:
        yield
    except click.ClickException as error:
        error.message = make_visible(error.message)  # type: ignore[misc]  # final for click itself
        raise


def _find_reason(error: KnowledgeError) -> str:
    # Callers of the tool learn only that the store cannot be reached; users of the command can remove the cause.
    reason = error.__cause__
    return reason.message if isinstance(reason, EmbeddingUnavailableError) else error.message


@click.group(
    cls=KnowledgeGroup,
    epilog=f"{_EXAMPLE}\n\nExit codes: {_CODES}.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name=APPLICATION)
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected failure.")
@click.pass_context
def knowledge(ctx: click.Context, *, debug: bool) -> None:
    """Publish Markdown and plain text as searchable knowledge, and maintain it."""
    messages = logging.StreamHandler()
    messages.setFormatter(_LabelFormatter("%(message)s"))
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, handlers=[messages])
    ctx.obj = ctx.obj or create_session()


def create_session() -> Session:
    """The session of the present environment."""
    folder = os.environ.get(CACHE_VARIABLE)
    return Session(dict(os.environ), Path(folder).expanduser() if folder else user_cache_path(APPLICATION))


def load_command(name: str) -> click.Command:
    """Import one of `COMMANDS`."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    return cast("click.Command", getattr(import_module(f"publish_knowledge.cli.{module}"), attribute))


def main() -> None:
    """Console entry point."""
    session = create_session()
    exit_at_signals(session.output)
    knowledge(prog_name="knowledge", obj=session)


if __name__ == "__main__":
    main()
