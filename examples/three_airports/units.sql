-- What the attribution rule of ATTRIBUTION.md counts, as views and table macros over what is known (known.sql).

-- A unit is a flight, a hit is what has to be explained: kind 'cancelled', or kind 'late' for more than 60 minutes. A flight that
-- still waits after 60 minutes is late; one that waits for less is not decided yet and does not count, nor does a cancelled one.
CREATE OR REPLACE TEMP VIEW units AS
SELECT 'cancelled' AS kind, day, hour, scheduled_departure, origin, carrier, dest, cancelled AS hit FROM flights
UNION ALL
SELECT 'late', day, hour, scheduled_departure, origin, carrier, dest, minutes > 60
FROM (SELECT day, hour, scheduled_departure, origin, carrier, dest, status = 'waiting' AS waits,
             coalesce(dep_delay, date_diff('minute', scheduled_departure, getvariable('known_at'))) AS minutes
      FROM flights WHERE NOT cancelled)
WHERE NOT waits OR minutes > 60;

-- What a day's rate usually is: the median over all earlier days.
CREATE OR REPLACE TEMP MACRO usual_rate_of(of_kind, of_day) AS TABLE
SELECT count(*) AS periods, coalesce(median(hits / n), 0) AS usual_rate
FROM (SELECT day, count(*) AS n, count(*) FILTER (hit) AS hits FROM units
      WHERE kind = of_kind AND day < of_day GROUP BY day);

-- The odds ratio of each slice against the rest, on each day with at least 10 hits. Mantel-Haenszel over the strata (airport and
-- hour; for the slices of an airport the hour alone) with one half added above and below; a slice counts on a day on which it
-- had at least 5 flights in strata with a hit.
CREATE OR REPLACE TEMP VIEW daily_odds AS
WITH cells AS (
    SELECT kind, day, origin, hour, carrier, dest, count(*) AS n, count(*) FILTER (hit) AS hits FROM units GROUP BY ALL
), disturbed AS (
    SELECT kind, day FROM cells GROUP BY kind, day HAVING sum(hits) >= 10
), long AS (
    SELECT kind, day, 'carrier' AS dimension, carrier AS value, origin || ' ' || hour AS stratum, n, hits
    FROM cells JOIN disturbed USING (kind, day)
    UNION ALL
    SELECT kind, day, 'origin', origin, hour::VARCHAR, n, hits FROM cells JOIN disturbed USING (kind, day)
    UNION ALL
    SELECT kind, day, 'dest', dest, origin || ' ' || hour, n, hits FROM cells JOIN disturbed USING (kind, day)
), own AS (
    SELECT kind, day, dimension, value, stratum, sum(n) AS n, sum(hits) AS a FROM long GROUP BY ALL
), both_sides AS (
    SELECT *, sum(n) OVER stratum_of AS total_n, sum(a) OVER stratum_of AS total_hits
    FROM own WINDOW stratum_of AS (PARTITION BY kind, day, dimension, stratum)
)
SELECT kind, day, dimension, value,
       (sum(a * (total_n - n - total_hits + a) / total_n) + 0.5) / (sum((total_hits - a) * (n - a) / total_n) + 0.5) AS odds
FROM both_sides
WHERE total_hits > 0
GROUP BY kind, day, dimension, value
HAVING sum(n) >= 5;

-- The upper end of a slice's usual odds: the 90 % quantile (linear between neighbours) over all earlier days.
CREATE OR REPLACE TEMP MACRO usual_odds_of(of_kind, of_day) AS TABLE
SELECT dimension, value, quantile_cont(odds, 0.9) AS usual_odds, count(*) AS periods
FROM daily_odds
WHERE kind = of_kind AND day < of_day
GROUP BY dimension, value
ORDER BY dimension, value;

-- A day's units known so far, counted in cells, with the weather that lay on them. A reading is bad when one of these holds (a
-- missing value or an impossible wind never makes it bad):
--   visibility under 3 miles                   instrument conditions of the FAA (Aeronautical Information Manual 7-1-6)
--   gust of 39 mph or more                     gale, Beaufort 8
--   wind of 25 mph or more                     strong breeze, Beaufort 6
--   0.10 inches of water or more in the hour   moderate rain, AMS Glossary of Meteorology
--   any water at 32 degrees F or less          snow or freezing rain; the file has no column for snow
-- Winds above 253 mph are impossible: the record gust of the World Meteorological Organization (Barrow Island, 1996).
-- Bad weather lies on the flights of an airport from 3 hours before its hour (airlines cancel ahead) to 6 hours after it (backlog).
CREATE OR REPLACE TEMP VIEW bad_weather AS
SELECT DISTINCT origin, hour_start FROM weather
WHERE coalesce(visib < 3, false)
   OR coalesce(wind_gust BETWEEN 39 AND 253, false)
   OR coalesce(wind_speed BETWEEN 25 AND 253, false)
   OR coalesce(precip >= 0.10, false)
   OR coalesce(precip > 0 AND temp <= 32, false);

CREATE OR REPLACE TEMP MACRO cells_of(of_kind, of_day) AS TABLE
WITH hours AS (
    SELECT DISTINCT origin, date_trunc('hour', scheduled_departure) AS hour_start FROM units WHERE kind = of_kind AND day = of_day
), conditions AS (
    SELECT h.origin, h.hour_start,
           CASE WHEN EXISTS (SELECT 1 FROM bad_weather b WHERE b.origin = h.origin
                             AND b.hour_start BETWEEN h.hour_start - INTERVAL 6 HOUR AND h.hour_start + INTERVAL 3 HOUR) THEN 'present'
                WHEN EXISTS (SELECT 1 FROM weather w WHERE w.origin = h.origin AND w.hour_start = h.hour_start) THEN 'absent'
                ELSE 'unknown' END AS condition
    FROM hours h
)
SELECT f.origin, f.hour, f.carrier, f.dest, c.condition, count(*) AS n, count(*) FILTER (f.hit) AS hits
FROM units f JOIN conditions c ON c.origin = f.origin AND c.hour_start = date_trunc('hour', f.scheduled_departure)
WHERE f.kind = of_kind AND f.day = of_day
GROUP BY ALL
ORDER BY ALL;
