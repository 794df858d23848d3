-- How often each slice is usually cancelled beside the rest of its airport and hour: the upper end of its habit.
SELECT * FROM usual_odds_of('cancelled', CAST($day AS DATE))
