"""Tell faults from what only looks like one."""

doubles = inputs["doubles"]
real = [row for row in doubles if row["moments"] < row["readings"]]
clock = [row for row in doubles if row["moments"] == row["readings"]]
result = {
    "impossible_winds": len(inputs["winds"]),
    "worst": inputs["winds"][0] if inputs["winds"] else None,
    "double_readings": len(real),
    "clock_change_hours": len(clock),
    "flights_without_weather": sum(row["flights"] for row in inputs["without_weather"]),
    "days_without_weather": len(inputs["without_weather"]),
    "faults": len(inputs["winds"]) + len(real),
    "verdict": "impossible reading" if inputs["winds"] else "nothing impossible",
    "confidence": "high",  # a bound of nature, not a statistic
}
