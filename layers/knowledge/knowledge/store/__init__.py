"""The stored data and how it is read: schema, tables, snapshots of one scope, faults of the storage library."""
