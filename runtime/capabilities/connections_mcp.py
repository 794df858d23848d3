"""What `connections.yaml` may say of an MCP server and its tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from pydantic import Field, field_validator, model_validator

from contracts import Effect, Json, Name, Parameter, Sha256, StepId
from runtime.capabilities.argument_schema import parameters_in, resolved, schema_for
from runtime.capabilities.connection_parts import (
    DeclaredPart,
    EnvName,
    Plausible,
    Price,
    Secret,
    ToolParameter,
    parameters_of,
)

_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")


class McpTool(DeclaredPart):
    """One tool of an MCP server that may be called."""

    tool: str | None = Field(default=None, min_length=1, max_length=128)
    """The server's own name for it, where it is not the key."""
    description: str = ""
    """What it does, for people and models; what the server says of it reaches neither."""
    parameters: dict[ToolParameter, Parameter] = {}
    """Arguments, by the names that the server has for them."""
    takes: dict[str, Json] | None = None
    """JSON Schema of the arguments, as the server has it, where types tell too little of them: a model sees it, and
    arguments have to fit it. `parameters` then only adds words, examples and defaults to some of them."""
    gives: dict[str, Json] = {}
    """Field → type name or JSON Schema of its structured content, or of the JSON object that its text is; absent, it
    gives its text as `text`."""
    effect: Effect
    """What it does to the world: read, idempotent, write or irreversible. The server's word on it counts nothing."""
    policy: Name | None = None
    """Approval rule it falls under."""
    plausible: Plausible = ()
    """As for an operation of a service."""
    every_call: bool = False
    """As for an operation of a service."""
    price: Price = None
    """What one call costs at most; absent, it costs what the whole connection says."""
    limit_s: float | None = Field(default=None, gt=0, le=43_200)
    """Seconds for one call; absent means the setting `mcp.timeout_s`."""
    atomic: bool = False
    """Whether a call that the tool itself reports as failed surely changed nothing; otherwise a person is asked."""
    sha256: Sha256 | None = None
    """Hash of what the server says of the tool, as `silicon doctor` tells it: only that version is called. What
    changes the world needs it, so that an approval covers one version."""

    @field_validator("parameters", mode="before")
    @classmethod
    def _a_type_alone_is_a_parameter(cls, value: object) -> object:
        return parameters_of(value)

    @field_validator("takes")
    @classmethod
    def _takes_arguments(cls, value: dict[str, Json] | None) -> dict[str, Json] | None:
        if value is None:
            return None
        schema = resolved(value)
        for name in schema["properties"]:
            if not _NAME.match(name):
                raise ValueError(f"`{name}` cannot be the name of an argument: {_NAME.pattern}")
        return schema

    @model_validator(mode="after")
    def _adds_to_what_it_takes(self) -> McpTool:
        if self.takes is not None:
            for name in self.parameters:
                if name not in parameters_in(self.takes):
                    raise ValueError(f"`parameters` names `{name}`, which is not under `properties` of `takes`")
        return self

    @cached_property
    def arguments(self) -> Mapping[str, Parameter]:
        """Its arguments, by the names that the server has for them."""
        return self.parameters if self.takes is None else {**parameters_in(self.takes), **self.parameters}

    @property
    def arguments_schema(self) -> Mapping[str, Json] | None:
        """JSON Schema that its arguments have to fit, where types do not tell them whole."""
        return None if self.takes is None else schema_for(self.takes, self.arguments)

    @model_validator(mode="after")
    def _what_is_approved_is_of_one_version(self) -> McpTool:
        if self.effect.needs_gate and self.sha256 is None:
            raise ValueError(
                f"a tool whose effect is {self.effect.value} needs `sha256`, so that an approval covers one version of "
                "it; `silicon doctor` on this folder, without the tool, tells it"
            )
        return self


class McpConnection(DeclaredPart):
    """An MCP server: a program that is started, or an address. Only the tools that are listed can be called."""

    kind: Literal["mcp"]
    """Fixed."""
    command: str | None = Field(default=None, min_length=1)
    """Program, run in the organisation's folder and spoken to over its standard input and output; `python` is the
    interpreter of this program."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[EnvName, Secret] = {}
    """Environment variables it gets beside PATH and language: the names of secrets, or variable → `{secret: NAME}`."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """Address of a server that speaks streamable HTTP, in the place of `command`."""
    headers: dict[str, str | Secret] = {}
    """Sent with every request to `url`."""
    allow_private: bool = False
    """Whether `url` may be inside a private network or this machine."""
    price: Price = None
    """What one call of any tool costs at most; absent, nobody knows, and a budget of money lets none through."""
    tools: dict[StepId, McpTool] = {}
    """What can be called, by the name it has here. Without any, `silicon doctor` tells what the server offers."""
    description: str = ""
    """What it is."""

    @field_validator("env", mode="before")
    @classmethod
    def _a_name_alone_is_its_own_secret(cls, value: object) -> object:
        if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
            return {name: {"secret": name} for name in value}
        return value

    @model_validator(mode="after")
    def _is_reached_in_one_way(self) -> McpConnection:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either `command` (a program that is started) or `url` (an address), not both")
        if self.command is None and (self.args or self.env):
            raise ValueError("`args` and `env` belong to a `command`; a server at a `url` gets `headers`")
        if self.url is None and (self.headers or self.allow_private):
            raise ValueError("`headers` and `allow_private` belong to a `url`; a `command` gets `args` and `env`")
        return self

    @property
    def where(self) -> str:
        """The address, or the command line."""
        return self.url or " ".join((self.command or "", *self.args))
