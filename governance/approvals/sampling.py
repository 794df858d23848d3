"""Which of what passed by itself people are asked to review."""

from __future__ import annotations

import hashlib

from contracts import CardId


def is_sampled(card_id: CardId, share: float) -> bool:
    """Whether a card is in a sample of that share: always the same ones, and with a larger share those and more."""
    first = hashlib.sha256(card_id.encode()).digest()[:8]
    return int.from_bytes(first) < share * 2**64
