-- Every carrier of that day. Those with at least 20 flights come first, the highest cancel rate at the head: a rate of one or two
-- flights says nothing. Regional carriers head this list in every storm: it shows who was hit, not what the cause was.
SELECT f.carrier, a.name, count(*) AS flights, count(*) FILTER (f.cancelled) AS cancelled, avg(CAST(f.cancelled AS INTEGER)) AS rate
FROM flights f JOIN airlines a USING (carrier)
WHERE f.day = CAST($day AS DATE)
GROUP BY f.carrier, a.name
ORDER BY flights < 20, rate DESC, f.carrier
