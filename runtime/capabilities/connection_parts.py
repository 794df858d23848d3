"""What declarations of connections have in common: prices, rules for odd results, parameters, secrets by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from contracts import Money, PlausibilityRule, ValueType
from runtime.expressions import ExpressionFault, compile_expression, names_in


class DeclaredPart(BaseModel):
    """Part of a declaration: frozen, closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _price(value: object) -> object:
    """Return the money in `0.02 USD`; nothing else is a price."""
    if value is None or isinstance(value, Money):
        return value
    if isinstance(value, str):
        return Money.parse(value)
    raise ValueError(f"`price` is written as `0.02 USD`, not {value!r}")


Price = Annotated[Money | None, BeforeValidator(_price)]


def _readable(rules: tuple[PlausibilityRule, ...]) -> tuple[PlausibilityRule, ...]:
    """Return rules whose expressions can be read; what they name is known only when there is something to look at."""
    for rule in rules:
        try:
            names = {path[0] for path in names_in(rule.check)}
            compile_expression(rule.check, dict.fromkeys(names, ValueType.ANY))
        except ExpressionFault as fault:
            raise ValueError(f"`{rule.check}` cannot be read: {fault.message}") from None
    return rules


Plausible = Annotated[tuple[PlausibilityRule, ...], AfterValidator(_readable)]
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
ToolParameter = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=64)]
"""The name of a tool's argument; MCP servers also write them in camel case."""


def parameters_of(value: object) -> object:
    """Return declared parameters; a type alone is one."""
    if not isinstance(value, Mapping):
        return value
    return {name: {"type": given} if isinstance(given, str) else given for name, given in value.items()}


class Secret(DeclaredPart):
    """A value that is looked up when it is needed and never shown."""

    secret: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """Name of the environment variable, or of the file in the folder of secrets."""
