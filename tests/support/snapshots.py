"""Handles and snapshots of a small dataset, without the service above them."""

from __future__ import annotations

from knowledge.scopes import Scope
from knowledge.store.snapshot import TableSnapshot
from knowledge.store.table_handles import TableHandles
from tests.support.datasets import Location, embedding


def open_handles(where: Location) -> TableHandles:
    """The handles of a dataset that was made with the tests' model."""
    model = embedding()
    return TableHandles(where.uri, model.model, model.dimensions, where.options)


async def open_snapshot(handles: TableHandles, scope: Scope) -> TableSnapshot:
    """A snapshot of a scope's tables."""
    table = await handles.open_current(scope, searching=False)
    assert table is not None
    return TableSnapshot(scope, table, handles)
