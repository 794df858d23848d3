"""What `connections.yaml` may say: databases, services and MCP servers, secrets by name only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    field_validator,
    model_validator,
)

from contracts import Effect, Json, Money, Name, Parameter, PlausibilityRule, Sha256, StepId, ValueType
from runtime.expressions import ExpressionFault, compile_expression, names_in


class _Declared(BaseModel):
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


def _parameters(value: object) -> object:
    """Return declared parameters; a type alone is one."""
    if not isinstance(value, Mapping):
        return value
    return {name: {"type": given} if isinstance(given, str) else given for name, given in value.items()}


class DuckdbConnection(_Declared):
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


class SqliteConnection(_Declared):
    """An SQLite file, opened read-only."""

    kind: Literal["sqlite"]
    """Fixed."""
    file: str = Field(min_length=1)
    """Path of the file, from the organisation's folder."""
    made_by: str = ""
    """Command that makes the file, named when it is missing."""
    description: str = ""
    """What is in it."""


class UrlConnection(_Declared):
    """A database server, read in read-only transactions."""

    kind: Literal["url"]
    """Fixed."""
    url: str = Field(min_length=1)
    """SQLAlchemy address; write a password as `${VARIABLE}`."""
    price: Price = None
    """What one query costs at most; absent, nobody knows, and a budget of money lets none through."""
    description: str = ""
    """What is in it."""


class Secret(_Declared):
    """A value that is looked up when it is needed and never shown."""

    secret: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """Name of the environment variable, or of the file in the folder of secrets."""


class Operation(_Declared):
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
        return _parameters(value)

    @model_validator(mode="after")
    def _what_writes_says_so(self) -> Operation:
        if self.effect is None and self.method != "GET":
            raise ValueError(f"an operation with {self.method} needs `effect`: read, idempotent, write or irreversible")
        return self

    @property
    def does(self) -> Effect:
        """What it does to the world."""
        return self.effect or Effect.READ


class Service(_Declared):
    """A service that is started when it is needed."""

    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments, run in the organisation's folder; `python` is the interpreter of this program."""


class Pages(_Declared):
    """That the browser may open the pages of a service."""

    also: tuple[Annotated[str, Field(pattern=r"^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$")], ...] = ()
    """Other hosts its pages are made of: `static.example.org`, `*.example.org`, `wiki.example.org:8080`."""


class DescribedOperation(_Declared):
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


class _HttpService(_Declared):
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


class BridgeOperation(_Declared):
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
        return _parameters(value)


class BridgeConnection(_Declared):
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


class McpTool(_Declared):
    """One tool of an MCP server that may be called."""

    tool: str | None = Field(default=None, min_length=1, max_length=128)
    """The server's own name for it, where it is not the key."""
    description: str = ""
    """What it does, for people and models; what the server says of it reaches neither."""
    parameters: dict[ToolParameter, Parameter] = {}
    """Arguments, by the names that the server has for them."""
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
        return _parameters(value)

    @model_validator(mode="after")
    def _what_is_approved_is_of_one_version(self) -> McpTool:
        if self.effect.needs_gate and self.sha256 is None:
            raise ValueError(
                f"a tool whose effect is {self.effect.value} needs `sha256`, so that an approval covers one version of "
                "it; `silicon doctor` on this folder, without the tool, tells it"
            )
        return self


class McpConnection(_Declared):
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


SqlConnection: TypeAlias = DuckdbConnection | SqliteConnection | UrlConnection
AnyConnection: TypeAlias = SqlConnection | HttpConnection | BridgeConnection | McpConnection
Connection: TypeAlias = Annotated[AnyConnection, Field(discriminator="kind")]

_READ: TypeAdapter[Any] = TypeAdapter(Connection, config=ConfigDict(defer_build=True))


def read_connection(data: Mapping[str, Any]) -> AnyConnection:
    """Return the connection declared by `data`; raise pydantic.ValidationError with every fault."""
    connection: AnyConnection = _READ.validate_python(data)
    return connection
