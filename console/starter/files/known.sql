-- A day's sales are known from closing time (18:00) on.
CREATE TEMP VIEW sales AS
SELECT day, product, pieces, amount
FROM facts.sales
WHERE day + INTERVAL 18 HOUR <= getvariable('known_at');
