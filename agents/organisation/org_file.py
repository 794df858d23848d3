"""`org.yaml`: who works here, who reports to whom, who decides, what may be spent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, field_validator, model_validator

from agents.employee.ports import Isolation
from agents.organisation.budget_files import SharedBudgetEntry
from agents.organisation.channel_entries import (
    ChannelEntry,
    NotifyEntry,
    QuietEntry,
    mail_address,
    notify_entries,
)
from agents.organisation.declared import Declared, Duration, money_of, one_or_more
from agents.organisation.heartbeat_entry import HeartbeatEntry, on_or_off
from contracts import ApprovalMode, Budget, CapabilityName, Money, Name, Text, ValueType, WorkingHours, Workspace
from contracts.hours import TIME_PATTERN
from governance.access import Role
from memory.buckets import year_fault
from runtime.blackboard.rules import KEY, REPLACE, rule_named
from runtime.model.prices import Price

_Several = BeforeValidator(one_or_more)


class WorkspaceEntry(Declared):
    """Files of an employee's own; `true` stands for one within the limits of the settings."""

    files: int | None = Field(default=None, ge=1)
    """How many there may be at most."""
    mib: int | None = Field(default=None, ge=1)
    """How large they may be together, MiB."""

    def workspace(self) -> Workspace:
        """Return it as it crosses layers."""
        return Workspace(files=self.files, total_bytes=None if self.mib is None else self.mib * 1_024 * 1_024)


def _workspace(value: object) -> object:
    """Return what `true` and `false` stand for, and limits as they are."""
    if isinstance(value, bool):
        return {} if value else None
    if not isinstance(value, dict):
        raise ValueError(f"`workspace` is `true`, or limits such as {{files: 200, mib: 20}}, not {value!r}")
    return value


class EmployeeEntry(Declared):
    """One employee and everybody below."""

    id: Name
    """Its key."""
    title: Text = ""
    """Its name for people."""
    skills: Annotated[tuple[Name, ...], _Several] = ()
    """Skills it carries out."""
    can: Annotated[tuple[CapabilityName, ...], _Several] = ()
    """Capabilities it may use."""
    isolation: Isolation = "shared"
    """`process`: on Ray it sits in a process of its own; `shared`: with others."""
    workspace: Annotated[WorkspaceEntry | None, BeforeValidator(_workspace)] = None
    """Files of its own, which lie in every slot that its orders get: `true`, or limits."""
    manages: tuple[EmployeeEntry, ...] = ()
    """Employees that report to it."""

    def everybody(self) -> Iterator[EmployeeEntry]:
        """Yield this employee and everybody below, in reading order."""
        waiting = [self]
        while waiting:
            entry = waiting.pop()
            yield entry
            waiting.extend(reversed(entry.manages))


class PersonEntry(Declared):
    """Somebody who acts here."""

    id: Name
    """Key; `--as` takes it."""
    name: str = Field(min_length=1)
    """Name for people."""
    roles: Annotated[tuple[Role, ...] | None, _Several] = None
    """What the person may do everywhere; absent means look, or nothing where `departments` say more."""
    departments: dict[Name, Annotated[tuple[Role, ...], _Several]] = Field(default={})
    """What the person may do in a department: an employee with everybody below."""
    groups: Annotated[tuple[Name, ...], _Several] = ()
    """Groups that cards may be addressed to."""
    login: str | None = None
    """The system user that is this person, or `any`."""
    deputy_for: Annotated[tuple[Name, ...], _Several] = ()
    """People this person stands in for."""

    email: str | None = None
    """Address of e-mail, for channels that need one."""
    notify: Annotated[tuple[NotifyEntry, ...], BeforeValidator(notify_entries)] = ()
    """Channels by which the person is told, each from a severity on."""
    quiet: QuietEntry | None = None
    """Hours in which the person is left alone."""

    @field_validator("email")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        return mail_address(value)

    @property
    def everywhere(self) -> tuple[Role, ...]:
        """Roles that hold in the whole organisation."""
        if self.roles is not None:
            return self.roles
        return () if self.departments else (Role.VIEWER,)

    @property
    def anywhere(self) -> set[Role]:
        """Every role that the person holds somewhere."""
        return {*self.everywhere, *(role for roles in self.departments.values() for role in roles)}


def _escalation(value: object) -> object:
    """Return the names in `escalate operations-director`, or a list as it is."""
    if not isinstance(value, str):
        return value
    word, _, names = value.strip().partition(" ")
    if word != "escalate" or not names.strip():
        raise ValueError(f"`then` is written as `escalate NAME`, not {value!r}")
    return [name.strip() for name in names.split(",")]


class ApprovalEntry(Declared):
    """Who decides, in which time, and what then."""

    mode: ApprovalMode = ApprovalMode.STRICT
    """How it is decided."""
    who: Annotated[tuple[Name, ...], _Several] = Field(min_length=1)
    """People or groups that may decide."""
    within: Duration | None = Field(default=None, gt=0)
    """Time until the card expires or is passed on."""
    then: Annotated[tuple[Name, ...], BeforeValidator(_escalation)] = ()
    """Who gets it after that."""
    quorum: int = Field(default=1, ge=1)
    """How many have to say yes."""
    impact: str | None = Field(default=None, min_length=1)
    """Expression over `use`, `arguments` and `effect`: how much hangs on an action."""
    under: float | None = Field(default=None, gt=0)
    """What has a smaller impact may pass by itself in the modes threshold and post_hoc."""
    undo_within: Duration | None = Field(default=None, gt=0)
    """How long what was carried out may be taken back."""
    may_loosen: bool = True
    """Whether a looser mode counts that people approved on a card after a long row of right ones."""
    counts: Literal["always", "working hours"] = "always"
    """When time passes for its deadlines: day and night, or in the working hours of the organisation."""


class HoursEntry(Declared):
    """When the organisation works."""

    days: Annotated[tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], _Several] = (
        "mon", "tue", "wed", "thu", "fri",
    )  # fmt: skip
    """Days of the week."""
    starts: str = Field(default="09:00", pattern=TIME_PATTERN, alias="from")
    """Local time, such as 08:30."""
    ends: str = Field(default="17:00", pattern=TIME_PATTERN, alias="until")
    """Local time."""

    @model_validator(mode="after")
    def _is_possible(self) -> HoursEntry:
        self.hours("UTC")
        return self

    def hours(self, time_zone: str) -> WorkingHours:
        """Return them as they cross layers."""
        days = tuple(_DAYS.index(day) + 1 for day in self.days)
        return WorkingHours(time_zone=time_zone, days=days, starts=self.starts, ends=self.ends)


_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class ClockEntry(Declared):
    """Where a replayed world stands."""

    stands_at: datetime | None = None
    """Local time of the organisation when nothing else is said."""

    @field_validator("stands_at", mode="before")
    @classmethod
    def _is_local(cls, value: object) -> object:
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is not None:
            raise ValueError(f"`stands_at` is local time such as 2013-02-08T17:00, not {value!r}")
        fault = year_fault(moment)
        if fault is not None:
            raise ValueError(f"`stands_at`: {fault}")
        return moment


class BudgetEntry(Declared):
    """What one execution may spend at most."""

    seconds: Duration | None = Field(default=None, gt=0)
    """Time of work."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens of models."""
    money: Annotated[Money | None, BeforeValidator(money_of)] = None
    """Costs, written as `5 USD`."""
    steps: int | None = Field(default=None, ge=1)
    """Steps of all plans."""

    def budget(self) -> Budget:
        """Return it as it crosses layers."""
        return Budget(seconds=self.seconds, tokens=self.tokens, money=self.money, steps=self.steps)


class PriceEntry(Declared):
    """What a million tokens of a model cost."""

    tokens_in: Annotated[Money, BeforeValidator(money_of)]
    """Sent, written as `0.50 USD`."""
    tokens_out: Annotated[Money, BeforeValidator(money_of)]
    """Received, in the same currency."""

    @model_validator(mode="after")
    def _one_currency(self) -> PriceEntry:
        self.price()
        return self

    def price(self) -> Price:
        """Return it as models are reckoned with."""
        return Price(self.tokens_in, self.tokens_out)


class ModelEntry(Declared):
    """Which model does what; one left empty is not used."""

    reason: str | None = None
    """Reasons in `react` steps and makes plans."""
    summarise: str | None = None
    """Condenses; absent means the one that reasons."""
    embed: str | None = None
    """Gives embeddings."""
    prices: dict[str, PriceEntry] = Field(default={})
    """Name of a model → what it costs; where money is limited, one that is not named is not asked."""

    def names(self) -> dict[str, str]:
        """Return role → model, of those that are named."""
        named = {"reason": self.reason, "summarise": self.summarise, "embed": self.embed}
        return {role: name for role, name in named.items() if name}


class BoardEntry(Declared):
    """A key of the blackboard; its rule alone is written as `best: max`."""

    merge: str = Field(default=REPLACE, min_length=1, max_length=200)
    """What becomes of what several write: `replace`, `append`, `max`, `union`, or an expression of `old` and `new`."""
    type: ValueType = ValueType.ANY
    """What may be written."""

    @field_validator("merge")
    @classmethod
    def _is_known(cls, value: str) -> str:
        rule_named(value)
        return value

    @property
    def merges(self) -> bool:
        """Whether nothing is lost when several write it at the same time."""
        return self.merge != REPLACE


def _board(value: object) -> object:
    """Return the keys with their rules in full."""
    if not isinstance(value, dict):
        return value
    for key in value:
        if not isinstance(key, str) or not KEY.fullmatch(key):
            raise ValueError(f"{key!r} is not a key of the blackboard; write letters, digits, `_`, `-` and `.`")
    return {key: {"merge": rule} if isinstance(rule, str) else rule for key, rule in value.items()}


class ShowEntry(Declared):
    """Skills that models are shown where a condition holds; what other programs wrote cannot say so by itself."""

    skills: Annotated[tuple[Name, ...], _Several] = Field(min_length=1)
    """Which they are."""
    when: str = Field(min_length=1)
    """Condition over `goal` and `employee`."""
    long_tail: bool = False
    """Whether they are of the long tail, as if their SKILL.md said so: shown by rules and their `words` alone."""


class OrgFile(Declared):
    """The whole file."""

    name: Name
    """Key of the organisation."""
    title: Text = ""
    """Its name for people."""
    time_zone: str
    """IANA name, for example America/New_York."""
    language: str = Field(default="en", pattern=r"^[a-z]{2}$")
    """Language of reports where a request names none."""
    clock: ClockEntry = ClockEntry()
    """For replayed worlds."""
    model: ModelEntry = ModelEntry()
    """Model of each role; without one, declared plans still run."""
    budget: BudgetEntry = BudgetEntry()
    """Limits of one execution."""
    budgets: tuple[SharedBudgetEntry, ...] = ()
    """Limits of departments and processes in a day, a week or a month, all their executions together."""
    people: tuple[PersonEntry, ...] = ()
    """Everybody who may do anything here."""
    approvals: dict[Name, ApprovalEntry] = Field(default={})
    """Approval rules; `default` is for what names none."""
    working_hours: HoursEntry | None = None
    """Hours in which deadlines of approval rules may be counted."""
    channels: dict[Name, ChannelEntry] = Field(default={})
    """How people are told outside of the console."""
    blackboard: Annotated[dict[str, BoardEntry], BeforeValidator(_board)] = Field(default={})
    """Keys of the blackboard that several write; any other key is replaced by each write."""
    packs: dict[Name, Annotated[tuple[CapabilityName, ...] | None, _Several]] = Field(default={})
    """Named sets of capabilities and of other packs; `can` and `tools` may name one in the place of its members."""
    goals: dict[Name, Text] = Field(default={})
    """What the organisation is for, key → in words; sensors say which of them their work brings forward."""
    heartbeat: Annotated[HeartbeatEntry, BeforeValidator(on_or_off)] = HeartbeatEntry()
    """Whether, and how often, a server beats for it; absent means the settings."""
    show: tuple[ShowEntry, ...] = ()
    """Rules by which models are shown skills, beside those of the skills themselves."""
    head: EmployeeEntry
    """The employee at the top."""

    @property
    def long_tail(self) -> frozenset[Name]:
        """Skills that are of the long tail by a rule."""
        return frozenset(name for entry in self.show if entry.long_tail for name in entry.skills)

    @field_validator("time_zone")
    @classmethod
    def _exists(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (LookupError, ValueError, OSError) as error:
            raise ValueError(f"There is no time zone {value!r}; write for example America/New_York") from error
        return value
