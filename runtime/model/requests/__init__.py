"""The one place where a request to a model is made fit for its endpoint: names, schemas, pairing, ways of calling."""

from runtime.model.requests.names import Names

__all__ = ["Names"]
