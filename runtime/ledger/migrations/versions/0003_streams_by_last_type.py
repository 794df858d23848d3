"""The index of streams by kind and last type: what has not ended is found without looking at all that has.

Servers ask several times a second. The new index is there before the old one goes, so that a migration that was killed
where the change of a table cannot be undone (MySQL) goes on from where it was.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    there = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("streams")}
    if "streams_last_type" not in there:
        op.create_index("streams_last_type", "streams", ["kind", "last_type", "organisation"])
    if "streams_kind" in there:
        op.drop_index("streams_kind", table_name="streams")
