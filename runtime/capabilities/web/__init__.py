"""`http.get`, `http.send`: requests to hosts that the organisation lists."""
