-- The day hour by hour, by scheduled departure.
SELECT hour, count(*) AS flights, count(*) FILTER (cancelled) AS cancelled, avg(CAST(cancelled AS INTEGER)) AS rate
FROM flights
WHERE day = CAST($day AS DATE)
GROUP BY hour
ORDER BY hour
