-- Departures by airport.
SELECT origin, count(dep_delay) AS departed, avg(dep_delay) AS mean_delay, avg(CAST(dep_delay > 15 AS INTEGER)) AS late_share
FROM flights
WHERE day = CAST($day AS DATE)
GROUP BY origin
ORDER BY origin
