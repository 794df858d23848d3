-- Each product this week and the week before, the one that fell most first.
WITH weeks AS (
    SELECT product,
           CAST(sum(amount) FILTER (day >= CAST($week AS DATE)) AS DOUBLE) AS this_week,
           CAST(sum(amount) FILTER (day < CAST($week AS DATE)) AS DOUBLE) AS week_before
    FROM sales
    WHERE day >= CAST($week AS DATE) - 7 AND day < CAST($week AS DATE) + 7
    GROUP BY product
)
SELECT product, this_week AS amount, week_before AS before, this_week / week_before - 1 AS change
FROM weeks
ORDER BY change, product
