"""The file `options.yaml` of a skill: what may be offered, and when."""

from __future__ import annotations

import re
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from contracts import CapabilityName, Json, Name, StepId, Text
from runtime.errors import InvalidArguments
from runtime.plain_words import in_plain_words

DENY = "deny"
"""What a person types for a no to every option; no option can be called that."""
DENIES = f"`{DENY}` is the no to every option and cannot be the id of one."

MOST_OPTIONS = 3
"""Options on one card, doing nothing among them."""


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class ActionTemplate(_Closed):
    """One effect of an option, its arguments not yet bound."""

    by: Name
    """The employee that carries it out."""
    use: CapabilityName
    """The capability."""
    arguments: dict[str, Json] = Field(default={}, alias="with")
    """Arguments with bindings."""


class OptionTemplate(_Closed):
    """One option, its texts not yet bound."""

    id: StepId
    """What a decision names."""
    title: Text
    """The choice in one line."""
    when: str | None = None
    """Condition over the arguments of `advise`; absent means always."""
    benefit: Text
    """What is gained."""
    risk: Text
    """What may go wrong."""
    cost: Text
    """What it costs."""
    reversible: bool = True
    """Whether it can be taken back; never true where an action is irreversible."""
    confidence: str | None = None
    """`high`, `medium`, `low`, or a binding; absent means that of the finding."""
    expects: Json = None
    """What it promises of a metric: a binding to `next` of an explanation, or an object; absent promises nothing."""
    do: tuple[ActionTemplate, ...] = ()
    """What is carried out; empty for doing nothing."""
    undo: tuple[ActionTemplate, ...] = ()
    """How it is taken back."""


class OptionsFile(_Closed):
    """A question with its options."""

    question: Text
    """In one line."""
    impact: Text
    """What it is about and how much hangs on it."""
    about: str | None = Field(default=None, min_length=1, max_length=200)
    """What it is about, with bindings; a newer card about the same takes the place of one that is still open."""
    policy: Name | None = None
    """The approval rule it falls under; absent means the default one."""
    options: tuple[OptionTemplate, ...] = Field(min_length=2)
    """In the order people see them."""

    @model_validator(mode="after")
    def _one_does_nothing(self) -> Self:
        ids = [option.id for option in self.options]
        if len(ids) != len(set(ids)):
            raise ValueError("Two options have the same id.")
        if all(option.do for option in self.options):
            raise ValueError("Doing nothing is always an option: add one without `do`.")
        return self

    @property
    def nothing(self) -> OptionTemplate:
        """The option to do nothing: the first without an action."""
        return next(option for option in self.options if not option.do)


def parse_options(options: Json) -> OptionsFile:
    """Return the options from YAML text, from `{file, text}` or from a value that is parsed already.

    Raises:
        InvalidArguments: it is no such file; all faults at once.
    """
    name = "options"
    if isinstance(options, dict) and options.keys() == {"file", "text"}:
        name, options = str(options["file"]), options["text"]
    if isinstance(options, str):
        options = _load(options, name)
    try:
        read = OptionsFile.model_validate(options)
    except ValidationError as error:
        places = [(".".join(map(str, fault["loc"])) or "the file", fault) for fault in error.errors()]
        faults = [f"{place}: {in_plain_words(fault)}" for place, fault in places]
        raise InvalidArguments(f"{name} cannot be used. {'; '.join(faults)}.", faults=list[Json](faults)) from None
    if any(option.id == DENY for option in read.options):
        raise InvalidArguments(f"{name} cannot be used. {DENIES}", faults=[DENIES])
    return read


def _load(text: str, name: str) -> Json:
    try:
        value: Json = yaml.load(text, _Yaml)  # noqa: S506  (a safe loader with the booleans of YAML 1.2)
    except yaml.YAMLError as error:
        raise InvalidArguments(f"{name} is not YAML: {error}", file=name) from None
    return value


class _Yaml(yaml.SafeLoader):
    """The safe loader, with `true` and `false` as the only booleans: `no` is a word."""

    yaml_implicit_resolvers: dict[Any, Any] = {  # noqa: RUF012  (the name and type are the library's)
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":bool", ":timestamp"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Yaml.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), list("tf"))
