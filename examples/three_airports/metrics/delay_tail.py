"""How long the tail of the delays is. Few flights have no tail that means anything."""

import statistics

AT_LEAST = 20


def value(delays):
    if len(delays) < AT_LEAST:
        return None
    tenths = statistics.quantiles(delays, n=10, method="inclusive")
    return tenths[8] - statistics.median(delays)
