-- Flights whose airport has no reading for their hour although that hour is over, by day.
SELECT CAST(f.day AS VARCHAR) AS day, count(*) AS flights, count(DISTINCT f.origin || f.hour) AS airport_hours
FROM flights f
WHERE date_trunc('hour', f.scheduled_departure) + INTERVAL 1 HOUR <= getvariable('known_at')
  AND NOT EXISTS (SELECT 1 FROM weather w WHERE w.origin = f.origin AND w.hour_start = date_trunc('hour', f.scheduled_departure))
GROUP BY f.day
ORDER BY f.day
