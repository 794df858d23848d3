-- Readings that share airport, day and hour, with their moments in UTC.
SELECT origin, strftime(hour_start, '%Y-%m-%dT%H:%M') AS hour, count(*) AS readings, count(DISTINCT hour_start_utc) AS moments
FROM weather
GROUP BY origin, hour_start
HAVING count(*) > 1
ORDER BY origin, hour
