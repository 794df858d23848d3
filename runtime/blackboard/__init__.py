"""The board that all agents of one execution share."""
