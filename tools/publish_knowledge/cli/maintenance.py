"""`knowledge doctor`, `optimize` and `purge`: looking after a dataset."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict

import click

from knowledge.scopes import Scope
from publish_knowledge import doctor as examiner
from publish_knowledge.cli.options import example, finish, one_scope, optional_scope, target_options
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.session import Target
from publish_knowledge.doctor import Finding
from publish_knowledge.maintenance import OptimizeReport, optimize_dataset
from publish_knowledge.publishing.lifecycle import LifecycleReport, purge_scope


@click.command(epilog=example("knowledge doctor --uri ./dataset", "knowledge doctor --repair --uri ./dataset"))
@target_options
@click.option("--repair", is_flag=True, help="Mend what can be mended.")
def doctor(target: Target, *, repair: bool) -> None:
    """Look for faults in a dataset.

    Marker, schema, model, unindexed rows, orphans, tables without their twin are examined.
    Ends with exit code 1 where faults are left.
    """
    findings = asyncio.run(_examined(target, repair=repair))
    document = {"type": "knowledge_doctor", "repaired": repair, "findings": [asdict(found) for found in findings]}
    hint = {True: "  --repair mends it.", False: ""}
    lines = [f"{found.code}  {found.where}: {found.detail}{hint[found.repairable]}" for found in findings]
    target.session.output.result(document, lines or ["No faults found."])
    finish(ExitCode.PROBLEMS if findings else ExitCode.OK)


@click.command(epilog=example("knowledge optimize --uri s3://bucket/knowledge"))
@target_options
@optional_scope
def optimize(target: Target, scope: Scope | None) -> None:
    """Keep queries quick.

    Small fragments are joined, indexes brought up to date, old table versions cleaned away; revisions all stay.
    """
    reports = asyncio.run(_optimized(target, scope))
    document = {"type": "knowledge_optimize", "tables": [asdict(report) for report in reports]}
    lines = [f"{one.scope}  {one.table}: {one.fragments} fragments, {one.unindexed_rows} unindexed" for one in reports]
    target.session.output.result(document, lines or ["Nothing to optimize."])


@click.command(epilog=example("knowledge purge --uri ./dataset --team support --yes"))
@target_options
@one_scope
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(target: Target, scope: Scope, *, yes: bool) -> None:
    """Remove all of an owner or a team permanently.

    Items, drafts and every revision go.
    """
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(f"This removes all of {scope.name} permanently. Add --yes to confirm it.")
        click.confirm(f"Remove all of {scope.name} in {target.uri} permanently?", abort=True, err=True)
    report = asyncio.run(_purged(target, scope))
    document = {"type": "knowledge_purge", "scope": scope.name, "changed": report.changed}
    done = f"Removed all of {scope.name}." if report.changed else f"{scope.name} has nothing here."
    target.session.output.result(document, [done])


async def _examined(target: Target, *, repair: bool) -> tuple[Finding, ...]:
    async with target.store() as store:
        return await (examiner.repair(store) if repair else examiner.examine(store))


async def _optimized(target: Target, scope: Scope | None) -> tuple[OptimizeReport, ...]:
    async with target.store() as store:
        return await optimize_dataset(store, scope)


async def _purged(target: Target, scope: Scope) -> LifecycleReport:
    async with target.store() as store:
        return await purge_scope(store, scope)
