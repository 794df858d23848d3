"""One employee of the tree: plans, dispatches, reflects, synthesises."""
