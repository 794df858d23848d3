-- How often each slice usually is over an hour late beside the rest of its airport and hour: the upper end of its habit.
SELECT * FROM usual_odds_of('late', CAST($day AS DATE))
