"""How often models had to be corrected, as the ledger tells it: whichever process it happened in, and for good."""

from runtime.corrections.kinds import COUNTED_OF, Guard, Occasion, Series, by_series
from runtime.corrections.tally import Tallied, Tally

__all__ = ["COUNTED_OF", "Guard", "Occasion", "Series", "Tallied", "Tally", "by_series"]
