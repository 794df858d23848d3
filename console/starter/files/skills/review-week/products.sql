-- Each product this week and the week before, the one that fell most first.
SELECT product,
       CAST(sum(amount) FILTER (day >= CAST($week AS DATE)) AS DOUBLE) AS amount,
       CAST(sum(amount) FILTER (day < CAST($week AS DATE)) AS DOUBLE) AS before,
       amount / before - 1 AS change
FROM sales
WHERE day >= CAST($week AS DATE) - 7 AND day < CAST($week AS DATE) + 7
GROUP BY product
ORDER BY change, product
