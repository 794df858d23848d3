"""Tools by which a model looks into stored data; each answer is bounded, so none of them is ever stored again."""

from runtime.context.inspect.context import context
from runtime.context.inspect.declarations import DECLARATIONS, INSPECT
from runtime.context.inspect.ends import head, tail
from runtime.context.inspect.outline import outline
from runtime.context.inspect.search import search
from runtime.context.inspect.stored import get_stored_data

__all__ = ["DECLARATIONS", "INSPECT", "context", "get_stored_data", "head", "outline", "search", "tail"]
