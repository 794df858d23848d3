"""Plans that a model makes for a free goal: proposed as data, checked by code, carried out like any other order."""
