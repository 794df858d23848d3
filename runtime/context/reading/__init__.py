"""What a value is, and where in it things stand."""
