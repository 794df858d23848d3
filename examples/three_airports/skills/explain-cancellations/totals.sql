-- The day so far, in one row.
SELECT count(*) AS flights,
       count(*) FILTER (cancelled) AS cancelled,
       count(*) FILTER (status = 'waiting') AS waiting,
       avg(CAST(cancelled AS INTEGER)) AS rate
FROM flights
WHERE day = CAST($day AS DATE)
