"""How the day went: its worst hour and the hours in which more than 15 % of at least 10 flights were cancelled."""

counted = [row for row in inputs["hours"] if row["flights"] >= 10]
bad = [row for row in counted if row["rate"] > 0.15]
worst = max(counted, key=lambda row: (row["rate"], -row["hour"]), default=None)
result = {
    "hours_counted": len(counted),
    "hours_bad": len(bad),
    "first_bad_hour": bad[0]["hour"] if bad else None,
    "worst_hour": worst["hour"] if worst else None,
    "worst_rate": worst["rate"] if worst else None,
}
