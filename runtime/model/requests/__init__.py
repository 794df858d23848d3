"""The one place where a request to a model is made fit for its endpoint: names, schemas, pairing, ways of calling."""

from runtime.model.requests.action import Action, action_schema, read_action
from runtime.model.requests.build import Built, build
from runtime.model.requests.errors import Fault, RequestUnfit, UnusableSchema
from runtime.model.requests.names import Names
from runtime.model.requests.pairing import check
from runtime.model.requests.schemas import Normalised, normalise

__all__ = [
    "Action",
    "Built",
    "Fault",
    "Names",
    "Normalised",
    "RequestUnfit",
    "UnusableSchema",
    "action_schema",
    "build",
    "check",
    "normalise",
    "read_action",
]
