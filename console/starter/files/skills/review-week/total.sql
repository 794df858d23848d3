-- The week and the week before, all products together.
SELECT count(DISTINCT day) FILTER (day >= CAST($week AS DATE)) AS days,
       CAST(sum(amount) FILTER (day >= CAST($week AS DATE)) AS DOUBLE) AS amount,
       CAST(sum(amount) FILTER (day < CAST($week AS DATE)) AS DOUBLE) AS before,
       amount / before - 1 AS change
FROM sales
WHERE day >= CAST($week AS DATE) - 7 AND day < CAST($week AS DATE) + 7
