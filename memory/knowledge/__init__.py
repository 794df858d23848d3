"""Knowledge folders: what people write down to be looked up, in three layers that a person can read."""
