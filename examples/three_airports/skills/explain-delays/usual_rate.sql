-- What a day's share of departures over an hour late usually is: the median over all earlier days.
SELECT * FROM usual_rate_of('late', CAST($day AS DATE))
