-- One carrier's day beside the other flights, as known now.
SELECT any_value(a.name) AS name,
       count(*) FILTER (f.carrier = $carrier) AS flights,
       count(*) FILTER (f.carrier = $carrier AND f.cancelled) AS cancelled,
       count(*) FILTER (f.carrier <> $carrier) AS other_flights,
       count(*) FILTER (f.carrier <> $carrier AND f.cancelled) AS other_cancelled
FROM flights f LEFT JOIN airlines a ON a.carrier = $carrier
WHERE f.day = CAST($day AS DATE)
