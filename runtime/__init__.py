"""What every execution stands on: ledger, bus, blackboard, executor, engine, capabilities."""
