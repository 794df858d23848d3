-- Readings with a wind that cannot be. 253 mph is the strongest gust ever measured (WMO, Barrow Island, 1996).
SELECT origin, strftime(hour_start, '%Y-%m-%dT%H:%M') AS hour, field, value
FROM (SELECT origin, hour_start, 'wind_speed' AS field, wind_speed AS value FROM weather
      UNION ALL
      SELECT origin, hour_start, 'wind_gust', wind_gust FROM weather)
WHERE value > 253
ORDER BY origin, hour, field
