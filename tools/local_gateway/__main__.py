"""Serve the tool on this machine: `python -m local_gateway`, or `make serve`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aws_lambda_powertools import Logger

from knowledge.embedding.providers import LOCAL, LOCAL_SMALL, provider
from knowledge.errors import KnowledgeError
from knowledge.labels import make_visible
from knowledge.scopes import Scope
from knowledge.store.options import storage_options_from
from local_gateway.events import PAYLOADS, Developer, Payload
from local_gateway.front import Front
from local_gateway.sample import EXAMPLES, Sample
from publish_knowledge.publishing.known_names import explain_unknown_scope, find_unknown_scopes
from publish_knowledge.store.database import Store
from publish_knowledge.store.marker import require_dataset
from search_knowledge.app import Handler
from search_knowledge.settings import Settings
from search_knowledge.switch import ON
from search_knowledge.tool_definition import NAME

SAMPLE_URI: Final = "./dataset"
PORT: Final = 8765
OWNER: Final = "ana"
TEAM: Final = "support"
QUERY: Final = "Who must be informed if you are feverish or coughing?"


def main(arguments: Sequence[str] | None = None) -> None:
    """Publish the sample base if its dataset is missing, then serve until interrupted."""
    options = _build_parser().parse_args(arguments)
    if options.uri == SAMPLE_URI:
        ensure_sample(Path(SAMPLE_URI), options.embedding)
    developer = Developer(options.owner or OWNER, tuple(options.team if options.team is not None else [TEAM]))
    for warning in check_dataset(options.uri, options.embedding, _list_given_scopes(options)):
        print(make_visible(warning), file=sys.stderr)
    with (
        _load_handler(options.uri, options.embedding) as handler,
        _open_listener(handler, developer, options.port, options.payload) as front,
    ):
        print(format_greeting(front.url, developer), flush=True)
        try:
            front.serve_forever()
        except KeyboardInterrupt:
            print("\nStopped.")


def _open_listener(handler: Handler, developer: Developer, port: int, payload: Payload) -> Front:
    try:
        return Front(handler, developer, port=port, payload=payload)
    except OSError as error:
        raise SystemExit(f"Port {port} cannot be used: {error.strerror}. Choose another one with --port.") from None


def _list_given_scopes(options: argparse.Namespace) -> list[Scope]:
    """The owner and teams that the user has named; a default that does not exist is no mistake."""
    owners = [Scope("owner", options.owner)] if options.owner else []
    return [*owners, *(Scope("team", team) for team in options.team or ())]


def check_dataset(uri: str, embedding: str, scopes: Sequence[Scope]) -> list[str]:
    """Return a warning for each scope unknown there. Ends the program where there is no dataset that fits.

    The function itself tells no caller what is wrong with its dataset, so that it has to be said here.
    """
    model = provider(embedding)

    async def look() -> list[str]:
        async with Store(uri, model.model, model.dimensions, storage_options_from(os.environ)) as store:
            await require_dataset(store)
            return [await explain_unknown_scope(store, one) for one in await find_unknown_scopes(store, scopes)]

    try:
        return asyncio.run(look())
    except KnowledgeError as error:
        raise SystemExit(make_visible(error.message)) from None


def ensure_sample(folder: Path, embedding: str, examples: Path = EXAMPLES) -> None:
    """Publish the sample base into a folder, unless the folder exists. An interrupted attempt starts again."""
    if folder.exists():
        return
    print(make_visible(f"Publishing the sample base of examples/ into {folder} …"), flush=True)
    begun = folder.with_name(f"{folder.name}.begun")
    shutil.rmtree(begun, ignore_errors=True)
    sample = Sample(str(begun), embedding, examples, report=lambda line: print(make_visible(f"  {line}"), flush=True))
    sample.publish()
    sample.revise()
    begun.rename(folder)


def format_greeting(url: str, developer: Developer) -> str:
    """Return the tool's address, the identity of every caller, and a command to try it with."""
    call = {"name": NAME, "arguments": {"query": QUERY}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    who = make_visible(f"{developer.owner} (teams: {', '.join(developer.teams) or 'none'})")
    return (
        f"{NAME} at {url}, everybody being {who}. Ctrl-C stops it. Try:\n\n"
        f"  curl -s {url} -H 'Content-Type: application/json' -d \\\n"
        f"    '{json.dumps(message)}'\n"
    )


def _load_handler(uri: str, embedding: str) -> Handler:
    settings = Settings(
        uri=uri, embedding=embedding, runtime_switch=ON, storage_options=storage_options_from(os.environ)
    )
    # A name of its own: a second logger of the same name would write to the stream of the first.
    handler = Handler(settings, Logger(service="local_gateway", stream=sys.stderr))
    handler.prepare()
    return handler


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="local_gateway", description="Serve search_knowledge over HTTP on loopback.")
    parser.add_argument("--port", type=int, default=PORT, help="port on 127.0.0.1; 0 takes a free one (%(default)s)")
    parser.add_argument("--owner", help=f"the owner everybody is taken for ({OWNER})")
    parser.add_argument("--team", action="append", help=f"a team of that owner; may be repeated ({TEAM})")
    parser.add_argument("--uri", default=SAMPLE_URI, help="dataset: a folder or s3://… (%(default)s)")
    parser.add_argument("--embedding", choices=(LOCAL, LOCAL_SMALL), default=LOCAL, help="model (%(default)s)")
    parser.add_argument("--payload", choices=PAYLOADS, default="1.0", help="version of the events (%(default)s)")
    return parser


if __name__ == "__main__":
    main()
