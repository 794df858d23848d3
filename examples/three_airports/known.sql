-- What was known at one moment.
--
-- Before this file runs, the connection has done
--     ATTACH '…/flights.duckdb' AS facts (READ_ONLY);
--     SET VARIABLE known_at = TIMESTAMP '2013-02-08 17:00:00';      -- New York wall-clock time
-- Afterwards `flights`, `weather`, `airlines`, `planes` and `airports` show what was known then. The moment is read again
-- with each query, so setting the variable anew moves the clock. "Known at" includes the moment itself. Without the
-- variable the views of flights and weather are empty.

-- A flight appears at its scheduled departure. If it never left, that is known at once: status 'cancelled'. A departure,
-- its time and its delay are known from the actual departure, an arrival with its delay and air time from the actual
-- arrival. What is not yet known is NULL. A diverted flight without an arrival on record stays 'departed'.
CREATE OR REPLACE TEMP VIEW flights AS
SELECT day, hour, scheduled_departure, carrier, flight, tailnum, origin, dest, distance,
       CASE WHEN actual_departure IS NULL THEN 'cancelled'
            WHEN actual_departure > getvariable('known_at') THEN 'waiting'
            WHEN actual_arrival <= getvariable('known_at') THEN 'arrived'
            ELSE 'departed' END AS status,
       actual_departure IS NULL AS cancelled,
       CASE WHEN actual_departure <= getvariable('known_at') THEN dep_time END AS dep_time,
       CASE WHEN actual_departure <= getvariable('known_at') THEN dep_delay END AS dep_delay,
       CASE WHEN actual_departure <= getvariable('known_at') THEN actual_departure END AS actual_departure,
       CASE WHEN actual_arrival <= getvariable('known_at') THEN arr_time END AS arr_time,
       CASE WHEN actual_arrival <= getvariable('known_at') THEN arr_delay END AS arr_delay,
       CASE WHEN actual_arrival <= getvariable('known_at') THEN air_time END AS air_time,
       CASE WHEN actual_arrival <= getvariable('known_at') THEN actual_arrival END AS actual_arrival,
       sched_dep_time, sched_arr_time
FROM facts.flights
WHERE scheduled_departure <= getvariable('known_at');

-- A reading appears at the end of its hour.
CREATE OR REPLACE TEMP VIEW weather AS
SELECT origin, day, hour, hour_start, known_from, hour_start_utc,
       temp, dewp, humid, wind_dir, wind_speed, wind_gust, precip, pressure, visib
FROM facts.weather
WHERE known_from <= getvariable('known_at');

-- Reference tables do not change during the year.
CREATE OR REPLACE TEMP VIEW airlines AS SELECT carrier, name FROM facts.airlines;
CREATE OR REPLACE TEMP VIEW planes AS SELECT * FROM facts.planes;
CREATE OR REPLACE TEMP VIEW airports AS SELECT faa, name, lat, lon, alt, tz, dst, tzone FROM facts.airports;
