"""The index of leases by time: those that live are found without looking at all that ever were, whose rows stay.

Servers ask several times a second. It is made where it is missing, so that a migration that was killed on MySQL goes
on from where it was.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    there = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("leases")}
    if "leases_expires_at" not in there:
        op.create_index("leases_expires_at", "leases", ["expires_at"])
