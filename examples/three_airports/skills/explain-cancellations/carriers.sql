-- Carriers with at least 20 flights that day, the highest cancel rate first. Regional carriers head this list in every storm:
-- it shows who was hit, not what the cause was.
SELECT f.carrier, a.name, count(*) AS flights, count(*) FILTER (f.cancelled) AS cancelled, avg(CAST(f.cancelled AS INTEGER)) AS rate
FROM flights f JOIN airlines a USING (carrier)
WHERE f.day = CAST($day AS DATE)
GROUP BY f.carrier, a.name
HAVING count(*) >= 20
ORDER BY rate DESC, f.carrier
LIMIT 8
