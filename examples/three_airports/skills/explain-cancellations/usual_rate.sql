-- What a day's cancel rate usually is: the median over all earlier days.
SELECT * FROM usual_rate_of('cancelled', CAST($day AS DATE))
