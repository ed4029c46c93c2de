"""Publishing and the life of items: plan, commit, reconcile, archive, restore, list."""
