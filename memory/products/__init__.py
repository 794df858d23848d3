"""What work delivered: reports, decisions, insights; found by what they are about, and where each came from."""
