"""`knowledge doctor`, `optimize`, `reindex` and `purge`: maintain a dataset."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import click

from knowledge.labels import make_visible
from knowledge.scopes import Scope
from publish_knowledge import doctor as examiner
from publish_knowledge.cli.items import distinguish_unknown_ids
from publish_knowledge.cli.options import finish, format_example, one_scope, optional_scope, target_options
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.session import Target
from publish_knowledge.maintenance import find_outdated_terms, optimize_dataset, reindex_dataset
from publish_knowledge.publishing.lifecycle import purge_scope
from publish_knowledge.publishing.terms import ReindexReport
from publish_knowledge.verification import examine_deeply

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store

T = TypeVar("T")


@click.command(epilog=format_example("knowledge doctor --uri ./dataset", "knowledge doctor --repair --uri ./dataset"))
@target_options
@click.option("--repair", is_flag=True, help="Repair what can be repaired.")
@click.option("--deep", is_flag=True, help="Read everything: texts, vectors, indexes, versions.")
def doctor(target: Target, *, repair: bool, deep: bool) -> None:
    """Find faults in a dataset.

    Examines the marker, schema, model, indexes, orphaned rows and tables without their counterpart.
    Ends with exit code 1 if faults are left. Search terms of an older analyzer are no fault: they are named beside.
    """
    findings = target.run(examiner.repair) if repair else ()
    if deep or not repair:
        findings = target.run(examine_deeply if deep else examiner.examine)
    outdated = target.run(find_outdated_terms)
    document = {
        "type": "knowledge_doctor",
        "repaired": repair,
        "findings": [asdict(found) for found in findings],
        "outdated_terms": [asdict(one) for one in outdated],
    }
    hint = {True: "  --repair corrects it.", False: ""}
    lines = [f"{found.code}  {found.where}: {found.detail}{hint[found.repairable]}" for found in findings]
    target.session.output.result(document, [*(lines or ["No faults found."]), *map(str, outdated)])
    finish(ExitCode.PROBLEMS if findings else ExitCode.OK)


@click.command(epilog=format_example("knowledge optimize --uri s3://bucket/knowledge"))
@target_options
@optional_scope
def optimize(target: Target, scope: Scope | None) -> None:
    """Keep queries fast.

    Compacts small fragments, updates indexes and removes old table versions; every revision stays.
    """
    reports = _run_in_known_scope(target, scope, lambda store: optimize_dataset(store, scope))
    document = {"type": "knowledge_optimize", "tables": [asdict(report) for report in reports]}
    lines = [f"{one.scope}  {one.table}: {one.fragments} fragments, {one.unindexed_rows} unindexed" for one in reports]
    target.session.output.result(document, lines or ["Nothing to optimize."])


@click.command(
    epilog=format_example(
        "knowledge reindex --uri s3://bucket/knowledge", "knowledge reindex --uri ./dataset --team support"
    )
)
@target_options
@optional_scope
def reindex(target: Target, scope: Scope | None) -> None:
    """Renew the search terms of what is published.

    Analyzes the stored texts again, as the current version does. Nothing is embedded, and no revision changes.
    Queries are answered meanwhile, and files may be published; a run that was interrupted goes on where it stopped.
    """
    reports = _run_in_known_scope(target, scope, lambda store: reindex_dataset(store, scope))
    document = {"type": "knowledge_reindex", "scopes": [asdict(report) for report in reports]}
    lines = [_describe_reindexed(report) for report in reports]
    target.session.output.result(document, lines or ["Nothing to reindex."])


def _describe_reindexed(report: ReindexReport) -> str:
    versions = report.after if report.before == report.after else f"{report.before} -> {report.after}"
    return f"{report.scope}: {report.renewed} of {report.passages} passages got other terms, analyzer {versions}"


def _run_in_known_scope(target: Target, scope: Scope | None, work: Callable[[Store], Awaitable[T]]) -> T:
    if scope is None:
        return target.run(work)
    with distinguish_unknown_ids():
        return target.run_in_scope(scope, work)


@click.command(epilog=format_example("knowledge purge --uri ./dataset --team support --yes"))
@target_options
@one_scope
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(target: Target, scope: Scope, *, yes: bool) -> None:
    """Remove everything of an owner or a team permanently.

    Items, drafts and all revisions are removed.
    """
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(f"This removes all of {scope.name} permanently. Add --yes to confirm it.")
        where = make_visible(f"{scope.name} in {target.uri}")
        click.confirm(f"Remove all of {where} permanently?", abort=True, err=True)
    with distinguish_unknown_ids():
        report = target.run_in_scope(scope, lambda store: purge_scope(store, scope))
    document = {"type": "knowledge_purge", "scope": scope.name, "changed": report.changed}
    done = f"Removed all of {scope.name}." if report.changed else f"{scope.name} has nothing here."
    target.session.output.result(document, [done])
