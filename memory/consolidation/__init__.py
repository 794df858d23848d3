"""Auto memory: what is remembered, told as a whole, so that nobody has to piece it together from shards."""
