"""What work costs: summed up from the ledger, and limited beforehand."""

from governance.costs.amounts import Cost, Series, summed_by
from governance.costs.book import CostBook
from governance.costs.whole import costs_of_execution

__all__ = ["Cost", "CostBook", "Series", "costs_of_execution", "summed_by"]
