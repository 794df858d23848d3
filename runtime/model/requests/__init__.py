"""The one place where a request to a model is made fit for its endpoint: names, schemas, pairing, ways of calling."""

from runtime.model.requests.errors import Fault, RequestUnfit, UnusableSchema
from runtime.model.requests.names import Names
from runtime.model.requests.pairing import check
from runtime.model.requests.schemas import Normalised, normalise

__all__ = ["Fault", "Names", "Normalised", "RequestUnfit", "UnusableSchema", "check", "normalise"]
