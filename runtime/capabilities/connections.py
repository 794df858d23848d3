"""What `connections.yaml` may say: databases, services and MCP servers, secrets by name only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    ConfigDict,
    Field,
    TypeAdapter,
    field_validator,
    model_validator,
)

from contracts import Effect, Json, Name, Parameter, StepId
from runtime.capabilities.connection_parts import DeclaredPart, Plausible, Price, Secret, parameters_of
from runtime.capabilities.connections_mcp import McpConnection


class DuckdbConnection(DeclaredPart):
    """An analytical file, attached read-only as `facts`."""

    kind: Literal["duckdb"]
    """Fixed."""
    file: str = Field(min_length=1)
    """Path of the data file, from the organisation's folder."""
    known: tuple[str, ...] = ()
    """SQL files that make TEMP views of what was known at `getvariable('known_at')`; then queries see these only."""
    made_by: str = ""
    """Command that makes the file, named when it is missing."""
    description: str = ""
    """What is in it."""

    @field_validator("known", mode="before")
    @classmethod
    def _one_file_is_a_list_of_one(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class SqliteConnection(DeclaredPart):
    """An SQLite file, opened read-only."""

    kind: Literal["sqlite"]
    """Fixed."""
    file: str = Field(min_length=1)
    """Path of the file, from the organisation's folder."""
    made_by: str = ""
    """Command that makes the file, named when it is missing."""
    description: str = ""
    """What is in it."""


class UrlConnection(DeclaredPart):
    """A database server, read in read-only transactions."""

    kind: Literal["url"]
    """Fixed."""
    url: str = Field(min_length=1)
    """SQLAlchemy address; write a password as `${VARIABLE}`."""
    price: Price = None
    """What one query costs at most; absent, nobody knows, and a budget of money lets none through."""
    description: str = ""
    """What is in it."""


class Operation(DeclaredPart):
    """One call of a service."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    """HTTP method."""
    path: str = Field(pattern=r"^/")
    """Below the base; `{name}` takes an argument."""
    description: str = ""
    """What it does, for people and models."""
    parameters: dict[StepId, Parameter] = {}
    """Arguments: those of the path, then the query (GET, DELETE) or the JSON body."""
    gives: dict[str, Json] = {}
    """Field of the answer → type name or JSON Schema."""
    effect: Effect | None = None
    """What it does to the world; GET reads unless it says otherwise."""
    policy: Name | None = None
    """Approval rule it falls under."""
    plausible: Plausible = ()
    """Rules for what it gives: a model that called it is told which do not hold."""
    every_call: bool = False
    """Whether identical calls are meant as they are; otherwise those in progress are one, and a model's repetition of
    an effect is not done again."""
    price: Price = None
    """What one call costs at most; absent, it costs what the whole service says."""
    lookup: str | None = Field(default=None, pattern=r"^/.*\{key\}")
    """Path that tells whether the call with `{key}` happened."""

    @field_validator("parameters", mode="before")
    @classmethod
    def _a_type_alone_is_a_parameter(cls, value: object) -> object:
        return parameters_of(value)

    @model_validator(mode="after")
    def _what_writes_says_so(self) -> Operation:
        if self.effect is None and self.method != "GET":
            raise ValueError(f"an operation with {self.method} needs `effect`: read, idempotent, write or irreversible")
        return self

    @property
    def does(self) -> Effect:
        """What it does to the world."""
        return self.effect or Effect.READ


class Service(DeclaredPart):
    """A service that is started when it is needed."""

    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments, run in the organisation's folder; `python` is the interpreter of this program."""


HostName = Annotated[str, Field(pattern=r"^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$")]
"""`api.example.org`, `*.example.org`, `wiki.example.org:8080`."""


_NOT_SET = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection", "idempotency-key"})
_LETS_IN = re.compile(r"auth|cookie|token|secret|passw|key", re.IGNORECASE)


class HostsConnection(DeclaredPart):
    """Hosts that `http.get` and `http.send` may reach, beside those of other lists."""

    kind: Literal["hosts"]
    """Fixed."""
    hosts: tuple[HostName, ...]
    """Their names: `api.example.org`, `*.example.org` for all below it, `wiki.example.org:8080`."""
    headers: dict[str, str | Secret] = {}
    """Sent with every request to them; secrets only over TLS."""
    allow_private: bool = False
    """Whether they may be inside a private network or this machine."""
    price: Price = None
    """What one request costs at most; absent, nobody knows, and a budget of money lets none through."""
    description: str = ""
    """What they are."""

    @field_validator("headers")
    @classmethod
    def _lets_in_by_secrets_alone(cls, headers: dict[str, str | Secret]) -> dict[str, str | Secret]:
        for name, value in headers.items():
            if name.lower() in _NOT_SET:
                raise ValueError(f"`{name}` is set by each request itself")
            if isinstance(value, str) and _LETS_IN.search(name):
                raise ValueError(f"`{name}` lets one in: write it as `{{secret: NAME}}`, never in the clear")
        return headers

    @field_validator("hosts")
    @classmethod
    def _lists_some(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        if not hosts:
            raise ValueError("name at least one host")
        return hosts


class Pages(DeclaredPart):
    """That the browser may open the pages of a service."""

    also: tuple[HostName, ...] = ()
    """Other hosts its pages are made of: `static.example.org`, `*.example.org`, `wiki.example.org:8080`."""


class DescribedOperation(DeclaredPart):
    """One operation of an OpenAPI document that may be called: what the document cannot say."""

    operation: str | None = Field(default=None, min_length=1, max_length=200)
    """Its `operationId`, where that is not the key."""
    effect: Effect | None = None
    """What it does to the world; GET reads unless this says otherwise. The document's word on it counts nothing."""
    policy: Name | None = None
    """Approval rule it falls under."""
    plausible: Plausible = ()
    """As for an operation that is declared whole."""
    every_call: bool = False
    """As for an operation that is declared whole."""
    price: Price = None
    """What one call costs at most; absent, it costs what the whole service says."""
    lookup: str | None = Field(default=None, pattern=r"^/.*\{key\}")
    """Path that tells whether the call with `{key}` happened."""
    gives: dict[str, Json] | None = None
    """Field of the answer → type name or JSON Schema, in the place of what the document says of the answer."""


class _HttpService(DeclaredPart):
    kind: Literal["http"]
    """Fixed."""
    base: str | None = Field(default=None, pattern=r"^https?://")
    """Address that every path is below."""
    service: Service | None = None
    """A local service in the place of an address."""
    headers: dict[str, str | Secret] = {}
    """Sent with every request."""
    allow_private: bool = False
    """Whether the address may be inside a private network or this machine."""
    price: Price = None
    """What one call of any operation costs at most; absent, a local service costs nothing, and of another one nobody
    knows: a budget of money lets no call of it through."""
    pages: Pages | None = None
    """That the browser may open its pages, below `base`'s host; those of a local service as `http://CONNECTION/…`."""
    description: str = ""
    """What it is."""

    @model_validator(mode="after")
    def _has_one_address(self) -> Self:
        if (self.base is None) == (self.service is None):
            raise ValueError("give either `base` (an address) or `service` (a command that is started), not both")
        return self


class HttpConnection(_HttpService):
    """A service with declared operations; nothing else can be called, and no page opened unless `pages` says so."""

    operations: dict[StepId, Operation] = {}
    """What can be called, by name."""

    @model_validator(mode="after")
    def _is_of_some_use(self) -> HttpConnection:
        if not self.operations and self.pages is None:
            raise ValueError("name at least one of `operations`, or say with `pages` that its pages may be opened")
        return self


class OpenApiConnection(_HttpService):
    """A service as an OpenAPI document tells it. It becomes an HttpConnection when the document is read."""

    openapi: str = Field(min_length=1)
    """Path of the document in the organisation's folder: OpenAPI 3.x, JSON or YAML."""
    operations: dict[StepId, DescribedOperation] = Field(min_length=1)
    """What can be called, by name; nothing else of the document can."""


class BridgeOperation(DeclaredPart):
    """One thing that a bridge carries out."""

    description: str = ""
    """What it does, for people and models."""
    parameters: dict[StepId, Parameter] = {}
    """Arguments."""
    gives: dict[str, Json] = {}
    """Field of the answer → type name or JSON Schema."""
    effect: Effect
    """What it does to the world: read, idempotent, write or irreversible. A bridge's own word on it counts nothing."""
    policy: Name | None = None
    """Approval rule it falls under."""
    plausible: Plausible = ()
    """As for an operation of a service."""
    every_call: bool = False
    """As for an operation of a service."""
    price: Price = None
    """What one call costs at most; absent, it costs what the whole connection says."""
    lookup: bool = False
    """Whether the bridge can tell by its key whether a call happened."""
    limit_s: float | None = Field(default=None, gt=0, le=43_200)
    """Seconds for one call; absent means the setting `engine.step_timeout_s`."""

    @field_validator("parameters", mode="before")
    @classmethod
    def _a_type_alone_is_a_parameter(cls, value: object) -> object:
        return parameters_of(value)


class BridgeConnection(DeclaredPart):
    """What bridges carry out on nodes of their own: devices and programs that speak HTTP to the gateway."""

    kind: Literal["bridge"]
    """Fixed."""
    label: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)
    """Label that a node must have to get these calls."""
    price: Price = None
    """What one call of any operation costs at most; absent, nobody knows, and a budget of money lets none through."""
    operations: dict[StepId, BridgeOperation] = Field(min_length=1)
    """What can be called, by name."""
    description: str = ""
    """What it is."""


SqlConnection: TypeAlias = DuckdbConnection | SqliteConnection | UrlConnection
AnyConnection: TypeAlias = SqlConnection | HttpConnection | HostsConnection | BridgeConnection | McpConnection
Connection: TypeAlias = Annotated[AnyConnection, Field(discriminator="kind")]

_READ: TypeAdapter[Any] = TypeAdapter(Connection, config=ConfigDict(defer_build=True))


def read_connection(data: Mapping[str, Any]) -> AnyConnection:
    """Return the connection declared by `data`; raise pydantic.ValidationError with every fault."""
    connection: AnyConnection = _READ.validate_python(data)
    return connection
