"""Every number of the product that a user may change, one named setting each, with its default and meaning.

Sizes are in characters, times in seconds, unless the name or the text says otherwise.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Group(BaseModel):
    """Settings of one room."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class LedgerSettings(Group):
    """Where state is kept, and how."""

    url: str = ""
    """SQLAlchemy address of the database; empty means the embedded file `silicon.db` in the home folder."""
    url_file: str = ""
    """File that holds the address, for one with a password; in the place of `url`."""
    synchronous: str = Field(default="FULL", pattern="^(FULL|NORMAL)$")
    """SQLite only: FULL survives a power cut, NORMAL may lose the last commits in one."""
    busy_timeout_s: float = Field(default=15.0, gt=0)
    """How long a write waits for another process before it is given up."""


class EngineSettings(Group):
    """Limits of the step engine."""

    network_retries: int = Field(default=3, ge=0)
    """Retries after a passing fault of a connection or service."""
    invalid_arguments_retries: int = Field(default=2, ge=0)
    """Retries after arguments that do not fit; only a model can correct them."""
    business_retries: int = Field(default=1, ge=0)
    """Other ways tried after a refusal of the world."""
    backoff_first_s: float = Field(default=0.5, gt=0)
    """Wait before the first retry; it doubles each time, with jitter."""
    backoff_most_s: float = Field(default=30.0, gt=0)
    """Longest wait between two tries; a service that asks for longer is not waited for."""
    settle_s: float = Field(default=10.0, ge=0)
    """How long an effect whose answer was lost is left to settle before a look-up that does not find it is believed."""
    plan_revisions: int = Field(default=3, ge=0)
    """Revisions of a plan after an unsatisfied step."""
    parallel: int = Field(default=3, ge=1)
    """Branches of a parallel group at once, unless the step says otherwise."""
    dispatch_at_once: int = Field(default=4, ge=1)
    """Independent steps of a plan in progress at once."""
    step_timeout_s: float = Field(default=300.0, gt=0)
    """One attempt of one step, unless the step or capability says otherwise."""
    nesting_depth: int = Field(default=5, ge=1)
    """Nested skills and workflow tools."""
    chain_length: int = Field(default=20, ge=1)
    """Orders in one chain."""
    same_id_in_chain: int = Field(default=3, ge=1)
    """How often one skill may appear in a chain."""
    tree_depth: int = Field(default=5, ge=1)
    """Levels of employees."""
    same_employee_in_chain: int = Field(default=3, ge=1)
    """How often one employee may appear in a chain."""
    inline_output: int = Field(default=8_000, ge=100)
    """Outputs longer than this are kept by reference."""


class ExecutorSettings(Group):
    """How executions are claimed and kept alive."""

    lease_s: float = Field(default=15.0, gt=0)
    """A process that does not renew for this long has lost its execution."""
    renew_s: float = Field(default=5.0, gt=0)
    """How often it renews."""
    cancel_grace_s: float = Field(default=2.0, gt=0)
    """How long tools in progress get to end after a cancel."""
    cancel_most_s: float = Field(default=60.0, gt=0)
    """How long a cancelled execution gets to take back what it did before it is stopped."""


class SlotSettings(Group):
    """Limits of a slot."""

    count: int = Field(default=0, ge=0)
    """Slots of this node; 0 means one for each core."""
    cpu_s: float = Field(default=60.0, gt=0)
    """CPU seconds of one program."""
    wall_s: float = Field(default=300.0, gt=0)
    """Seconds of one program from start to end."""
    memory_mib: int = Field(default=1_024, ge=16)
    """Memory of one program, MiB."""
    file_mib: int = Field(default=100, ge=1)
    """Largest file a program may write, MiB."""
    open_files: int = Field(default=256, ge=16)
    """Open files of one program."""
    processes: int = Field(default=64, ge=1)
    """Processes of one slot."""
    output_kib: int = Field(default=1_024, ge=1)
    """What is kept of a program's standard output and error, KiB; a program that prints more is stopped."""
    result_kib: int = Field(default=16_384, ge=1)
    """Largest result of a program, KiB."""
    allocate_s: float = Field(default=60.0, gt=0)
    """How long an order waits for a free slot before that is reported."""
    lease_s: float = Field(default=15.0, gt=0)
    """A slot whose lease is not renewed for this long is lent again."""


class HttpSettings(Group):
    """Calls of declared HTTP services."""

    timeout_s: float = Field(default=30.0, gt=0)
    """One request."""
    response_kib: int = Field(default=4_096, ge=1)
    """Largest answer that is read, KiB."""


class SqlSettings(Group):
    """Queries on declared connections."""

    timeout_s: float = Field(default=60.0, gt=0)
    """One query."""
    rows: int = Field(default=50_000, ge=1)
    """Rows a query may return; more is an error, never a silent cut."""


class ApprovalSettings(Group):
    """Decision cards."""

    within_s: float = Field(default=86_400.0, gt=0)
    """Deadline of a card, unless its rule says otherwise (24 h)."""


class SensorSettings(Group):
    """Sensors and their noise."""

    deduplicate_s: float = Field(default=1_800.0, ge=0)
    """Signals with the same key inside this window are one (30 min)."""


class BlackboardSettings(Group):
    """The board that the agents of one execution share."""

    value_kib: int = Field(default=64, ge=1)
    """Largest value, KiB; larger ones go by reference."""


class ModelSettings(Group):
    """The model of each role; without one, everything declared still runs."""

    reason: str = ""
    """Model that reasons in `react` steps, for example the name your endpoint lists."""
    base_url: str = ""
    """OpenAI-compatible endpoint."""
    api_key_file: str = ""
    """File that holds the key; the environment variable OPENAI_API_KEY is read as well."""


class LogSettings(Group):
    """What the program says about itself."""

    level: str = Field(default="WARNING", pattern="^(DEBUG|INFO|WARNING|ERROR)$")
    """Least level written to the log."""
    file: str = ""
    """Log file, one JSON object a line; empty means `log.jsonl` in the home folder."""
    file_mib: int = Field(default=10, ge=1)
    """The log file is put aside when it reaches this size, MiB."""
    files: int = Field(default=3, ge=0)
    """Log files put aside that are kept."""
