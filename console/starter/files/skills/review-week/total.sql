-- The week and the week before, all products together.
WITH weeks AS (
    SELECT count(DISTINCT day) FILTER (day >= CAST($week AS DATE)) AS days,
           CAST(sum(amount) FILTER (day >= CAST($week AS DATE)) AS DOUBLE) AS this_week,
           CAST(sum(amount) FILTER (day < CAST($week AS DATE)) AS DOUBLE) AS week_before
    FROM sales
    WHERE day >= CAST($week AS DATE) - 7 AND day < CAST($week AS DATE) + 7
)
SELECT days, this_week AS amount, week_before AS before, this_week / week_before - 1 AS change
FROM weeks
