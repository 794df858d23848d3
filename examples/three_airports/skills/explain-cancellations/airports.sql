-- Each airport's flights and weather of the day as known so far. Winds above 253 mph are impossible and left out (Barrow Island, 1996).
WITH readings AS (
    SELECT origin, count(*) AS readings, min(visib) AS lowest_visibility,
           max(CASE WHEN wind_gust <= 253 THEN wind_gust END) AS strongest_gust,
           sum(precip) AS precipitation, min(temp) AS lowest_temperature
    FROM weather WHERE day = CAST($day AS DATE) GROUP BY origin
)
SELECT f.origin, count(*) AS flights, count(*) FILTER (f.cancelled) AS cancelled, avg(CAST(f.cancelled AS INTEGER)) AS rate,
       any_value(w.readings) AS readings, any_value(w.lowest_visibility) AS lowest_visibility,
       any_value(w.strongest_gust) AS strongest_gust, any_value(w.precipitation) AS precipitation,
       any_value(w.lowest_temperature) AS lowest_temperature
FROM flights f LEFT JOIN readings w USING (origin)
WHERE f.day = CAST($day AS DATE)
GROUP BY f.origin
ORDER BY f.origin
