"""`silicon up`: the executor and the HTTP API in one process."""
