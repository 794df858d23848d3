"""Steps that let a model reason with tools: a conversation kept in the ledger, so that it goes on after any stop."""
