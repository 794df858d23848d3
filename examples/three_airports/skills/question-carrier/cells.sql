-- The day's flights counted in cells, with the weather that lay on them; the rule stands in units.sql and ATTRIBUTION.md.
SELECT * FROM cells_of('cancelled', CAST($day AS DATE))
