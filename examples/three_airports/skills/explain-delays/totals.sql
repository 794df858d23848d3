-- The day's departures so far, in one row.
SELECT count(*) AS flights, count(dep_delay) AS departed, avg(dep_delay) AS mean_delay,
       avg(CAST(dep_delay > 15 AS INTEGER)) AS late_share, avg(arr_delay) AS mean_arrival_delay
FROM flights
WHERE day = CAST($day AS DATE)
