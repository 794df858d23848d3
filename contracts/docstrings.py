"""What stands below the fields of a model, read from its source when somebody asks.

pydantic reads it when a class is made (`use_attribute_docstrings`), which took a tenth of every start.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel


@cache
def field_texts(model: type[BaseModel]) -> Mapping[str, str]:
    """Return field → the text below it, those of the classes it comes from included."""
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, BaseModel) and not cls.__module__.startswith("pydantic"):
            texts.update(_own_texts(cls))
    return texts


def describe_properties(model: type[BaseModel], schema: dict[str, Any]) -> dict[str, Any]:
    """Put the texts into the JSON Schema of a model, under its fields that say nothing else; return the schema."""
    properties = schema.get("properties", {})
    for name, text in field_texts(model).items():
        info = model.model_fields.get(name)
        shown = properties.get(name if info is None or info.alias not in properties else info.alias)
        if info is not None and info.description is None and shown is not None:
            shown["description"] = text
    return schema


def _own_texts(cls: type) -> Mapping[str, str]:
    try:
        (tree,) = ast.parse(dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # made without a source, as in a test
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
