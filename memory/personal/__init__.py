"""What an organisation knows of how a person likes to be answered, what they look at, and what they know.

It emerges from what they say and ask, is shown to them with its reasons, and is theirs to correct and to delete.
"""
