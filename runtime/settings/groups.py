"""Every number of the product that a user may change, one named setting each, with its default and meaning.

Those of models stand in `runtime.settings.models`, those of what they see in `runtime.settings.context`. Sizes are in
characters, times in seconds, unless the name or the text says otherwise.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from runtime.settings.group import DAY_S, LONGEST_DAYS, LONGEST_S, MOST_REQUESTS, Group


class LedgerSettings(Group):
    """Where state is kept, and how."""

    url: str = ""
    """SQLAlchemy address of the database; empty means the embedded file `silicon.db` in the home folder."""
    url_file: str = ""
    """File that holds the address, for one with a password; in the place of `url`."""
    synchronous: str = Field(default="FULL", pattern="^(FULL|NORMAL)$")
    """SQLite only: FULL survives a power cut, NORMAL may lose the last commits in one."""
    busy_timeout_s: float = Field(default=15.0, gt=0, le=DAY_S)
    """How long a write waits for another process before it is given up."""
    snapshot_events: int = Field(default=100, ge=1)
    """After how many events of an order's stream a snapshot is taken."""
    flush_ms: int = Field(default=500, ge=1, le=60_000)
    """How long events that are only streamed (words of a model) are collected before they are stored, ms."""
    flush_events: int = Field(default=10, ge=1)
    """How many of them are collected at most."""


class RetentionSettings(Group):
    """What may be taken away, and when. An execution under a legal hold stays whole."""

    executions_days: float = Field(default=0.0, ge=0, le=LONGEST_DAYS)
    """Executions that ended this many days ago may be pruned; 0 keeps them for ever."""
    stream_only_days: float = Field(default=7.0, ge=0, le=LONGEST_DAYS)
    """Events that were only streamed are kept this long after the answer is stored."""
    prune_at: str = Field(default="", pattern="^(([01][0-9]|2[0-3]):[0-5][0-9])?$")
    """When a server prunes each day, UTC, such as 03:30; empty leaves it to `silicon db prune`."""


class BusSettings(Group):
    """How processes are told what the ledger committed."""

    url: str = ""
    """Redis, for example redis://localhost:6379/0; empty means inside this process, and other processes look."""
    url_file: str = ""
    """File that holds the address, for one with a password; in the place of `url`."""
    deliveries: int = Field(default=5, ge=1)
    """How often a message is delivered to a group before it goes to the dead letters."""
    stale_s: float = Field(default=30.0, gt=0, le=LONGEST_S)
    """A delivery that was not acknowledged for this long is given to another member of its group."""
    retry_first_s: float = Field(default=0.5, ge=0, le=LONGEST_S)
    """Wait before a message is delivered again after a failure; it doubles each time, up to `stale_s`."""
    kept: int = Field(default=100_000, ge=1_000)
    """Messages kept in Redis; whoever is further behind reads the ledger."""


class ServerSettings(Group):
    """`silicon up`: the executor and the HTTP API."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8700, ge=0, le=65_535)
    """Port to listen on; 0 takes a free one."""
    request_kib: int = Field(default=1_024, ge=1)
    """Largest body of a request, KiB."""
    request_depth: int = Field(default=32, ge=1)
    """How deep JSON in a request may be nested."""
    rate_per_s: float = Field(default=20.0, ge=0.001, le=MOST_REQUESTS)
    """Requests of one principal in a second."""
    rate_burst: int = Field(default=40, ge=1, le=MOST_REQUESTS)
    """Requests of one principal at once."""
    keep_alive_s: float = Field(default=15.0, gt=0, le=LONGEST_S)
    """How often a silent stream of events says that it is still there."""
    readers: int = Field(default=1_000, ge=1)
    """Streams of events at once."""
    wrong_tokens_per_min: float = Field(default=10.0, ge=0.001, le=MOST_REQUESTS)
    """Requests with a wrong token that one address may make in a minute."""


class EngineSettings(Group):
    """Limits of the step engine."""

    network_retries: int = Field(default=3, ge=0)
    """Retries after a passing fault of a connection or service."""
    invalid_arguments_retries: int = Field(default=2, ge=0)
    """Retries after arguments that do not fit; only a model can correct them."""
    corrections: int = Field(default=2, ge=0)
    """How often a model is told what is wrong with its result before the step fails."""
    iterations: int = Field(default=10, ge=1)
    """Answers of a model in one step at most, unless the step says otherwise."""
    plan_iterations: int = Field(default=50, ge=1)
    """Answers of models that one run of a plan may always have; a plan of many steps may have `iterations` for each."""
    plan_from: float = Field(default=3.0, ge=0)
    """Complexity of a goal from which a model makes a plan for it instead of answering it."""
    calls_at_once: int = Field(default=5, ge=1)
    """Tool calls of one model answer at once."""
    shared_budget_wait_s: float = Field(default=30.0, ge=0, le=LONGEST_S)
    """How long a call waits for a budget of its department or process that calls in progress may give back."""
    same_call_in_a_row: int = Field(default=3, ge=2)
    """The same tool with the same arguments in so many answers in a row is stopped."""
    business_retries: int = Field(default=1, ge=0)
    """Times that a result which was not accepted is asked for again; 0 also takes no other way (`otherwise`)."""
    backoff_first_s: float = Field(default=0.5, gt=0, le=LONGEST_S)
    """Wait before the first retry; it doubles each time, with jitter."""
    backoff_most_s: float = Field(default=30.0, gt=0, le=LONGEST_S)
    """Longest wait between two tries; a service that asks for longer is not waited for."""
    settle_s: float = Field(default=10.0, ge=0, le=LONGEST_S)
    """How long an effect whose answer was lost is left to settle before a look-up that does not find it is believed."""
    plan_revisions: int = Field(default=3, ge=0)
    """Revisions of a plan after an unsatisfied step."""
    parallel: int = Field(default=3, ge=1)
    """Branches of a parallel group at once, unless the step says otherwise."""
    dispatch_at_once: int = Field(default=4, ge=1)
    """Steps of a plan in progress at once; where it is dispatched adaptively, when it begins."""
    dispatch_most: int = Field(default=16, ge=1)
    """Steps of an adaptively dispatched plan in progress at once at most, however well it goes."""
    step_timeout_s: float = Field(default=300.0, gt=0, le=LONGEST_S)
    """One attempt of one step, unless the step or capability says otherwise; waiting for room at a model is no part."""
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

    lease_s: float = Field(default=15.0, gt=0, le=LONGEST_S)
    """A process that does not renew for this long has lost its execution."""
    renew_s: float = Field(default=5.0, gt=0, le=LONGEST_S, validate_default=True)
    """How often it renews; less than `lease_s`."""
    sweep_s: float = Field(default=5.0, gt=0, le=LONGEST_S)
    """How often a server looks for executions that nobody works on."""
    at_once: int = Field(default=200, ge=1)
    """Executions that one server works on at the same time."""
    crashes: int = Field(default=5, ge=1)
    """How often in a row a process may die with an execution, nothing new stored in between, before it is given up."""
    drain_s: float = Field(default=30.0, ge=0, le=LONGEST_S)
    """How long steps in progress get to end when a server is stopped; what does not end is taken up elsewhere."""
    cancel_grace_s: float = Field(default=2.0, gt=0, le=LONGEST_S)
    """How long tools in progress get to end after a cancel."""
    cancel_most_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """How long a cancelled execution gets to take back what it did before it is stopped."""

    @field_validator("renew_s")
    @classmethod
    def _before_it_runs_out(cls, renew_s: float, info: ValidationInfo) -> float:
        """Refuse a renewal that always comes too late: every execution would be lost to the next server."""
        lease_s = info.data.get("lease_s")
        if lease_s is not None and renew_s >= lease_s:
            raise ValueError(f"it is {renew_s:g} s, and what is claimed for {lease_s:g} s (lease_s) runs out before")
        return renew_s


class WorkforceSettings(Group):
    """Where employees sit."""

    engine: str = Field(default="inline", pattern="^(inline|ray)$")
    """inline: all in the process that works on an execution. ray: in hosts of Ray, on this machine or many."""


class RaySettings(Group):
    """Hosts of employees on Ray; RAY_ADDRESS names a running Ray, else one is started on this machine."""

    hosts_per_node: int = Field(default=0, ge=0, le=256)
    """Hosts on each node of Ray; 0 means one for each core."""
    start_tries: int = Field(default=3, ge=1, le=100)
    """How often hosts are started where each of them ends while it starts, waiting longer each time, before it is
    reported."""
    object_store_mib: int = Field(default=80, ge=76)
    """Memory that a Ray which is started here keeps for objects, MiB; employees hand each other little."""


class SlotSettings(Group):
    """Limits of a slot."""

    driver: Literal["auto", "bubblewrap", "docker", "rlimits+landlock", "rlimits"] = "auto"
    """How programs are isolated; `auto` takes the strongest driver that works on this machine."""
    docker_image: str = ""
    """Image of the driver `docker`, with a `python3` and the packages that scripts import."""
    count: int = Field(default=0, ge=0)
    """Slots of this node; 0 means one for each core."""
    cpu_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """CPU seconds of one program."""
    wall_s: float = Field(default=300.0, gt=0, le=LONGEST_S)
    """Seconds of one program from start to end."""
    memory_mib: int = Field(default=1_024, ge=16)
    """Memory of one program, MiB."""
    file_mib: int = Field(default=100, ge=1)
    """Largest file a program may write, MiB."""
    disk_mib: int = Field(default=1_024, ge=1)
    """Disk space of one slot, all its files together, MiB; looked at while a program runs, which is then stopped."""
    open_files: int = Field(default=256, ge=16)
    """Open files of one program."""
    processes: int = Field(default=64, ge=1)
    """Processes of one slot."""
    output_kib: int = Field(default=1_024, ge=1)
    """What is kept of a program's standard output and error, KiB; a program that prints more is stopped."""
    result_kib: int = Field(default=16_384, ge=1)
    """Largest result of a program, KiB."""
    allocate_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """How long an order waits while nothing that fits it takes a new one, before that is reported."""
    lease_s: float = Field(default=15.0, gt=0, le=LONGEST_S)
    """A slot whose lease is not renewed for this long is lent again."""


class ClusterSettings(Group):
    """The queue of orders, and the nodes that serve it."""

    queue: int = Field(default=100_000, ge=1)
    """Orders that may wait for a slot; more are refused with QUEUE_FULL until some have got one."""
    beat_s: float = Field(default=5.0, gt=0, le=LONGEST_S)
    """How often a node says that it lives."""
    lost_after: int = Field(default=3, ge=1)
    """Beats that a node may miss before it counts as lost."""
    accept_s: float = Field(default=3.0, gt=0, le=LONGEST_S)
    """An order that its node does not begin within this time is given to another."""
    pull_s: float = Field(default=0.2, gt=0, le=LONGEST_S)
    """How often a process looks for what other processes put into the queue or took out of it."""
    prewarm: int = Field(default=1, ge=0)
    """Free slots of a node that a server keeps ready for the next orders, 12 MiB each; 0 keeps none."""
    labels: tuple[str, ...] = ()
    """Labels that this node offers, beside those that the program finds out itself."""
    folder: str = ""
    """Folder of this node's id and slots; empty means the home folder. Two nodes of one home need one each."""

    @property
    def lost_s(self) -> float:
        """Without a beat for so long a node is lost."""
        return self.beat_s * self.lost_after


class FileSettings(Group):
    """Files that steps leave in slots, and those of employees that own a workspace."""

    count: int = Field(default=10_000, ge=1, le=100_000)
    """Files of one slot or one workspace that are kept."""
    total_mib: int = Field(default=256, ge=1, le=4_096)
    """How large they are together, MiB; one alone may be as large as `slot.file_mib`."""


class BrowserSettings(Group):
    """The browser in a slot."""

    executable: str = ""
    """Chromium's program, by path or name; empty: the first of `chromium`, `chromium-browser`, `google-chrome`."""
    timeout_s: float = Field(default=30.0, gt=0, le=DAY_S)
    """One thing done on a page, until it is loaded or settled."""
    start_s: float = Field(default=30.0, gt=0, le=DAY_S)
    """Until a browser has started."""
    width: int = Field(default=1_280, ge=320, le=4_096)
    """Of its window, pixels."""
    height: int = Field(default=800, ge=240, le=4_096)
    """Of its window, pixels."""
    transfer_mib: int = Field(default=32, ge=1)
    """What one thing done on a page may bring over the network, MiB; a page that brings more is stopped."""
    answer_mib: int = Field(default=32, ge=1)
    """Largest answer of the browser, a picture of a page included, MiB."""
    memory_mib: int = Field(default=2_048, ge=512)
    """Memory of a browser with all its pages, MiB."""
    processes: int = Field(default=400, ge=100)
    """Processes and threads of a browser."""
    open_files: int = Field(default=1_024, ge=256)
    """Open files of each of its processes."""
    cpu_s: float = Field(default=300.0, gt=0, le=LONGEST_S)
    """CPU seconds of each of its processes."""


class HttpSettings(Group):
    """Calls of declared HTTP services, and requests to listed hosts."""

    timeout_s: float = Field(default=30.0, gt=0, le=DAY_S)
    """One request."""
    response_kib: int = Field(default=4_096, ge=1)
    """Largest answer that is read, KiB."""
    redirects: int = Field(default=5, ge=0, le=20)
    """How often `http.get` is sent elsewhere at most; each address has to be on a list."""


class McpSettings(Group):
    """Calls of tools of declared MCP servers."""

    timeout_s: float = Field(default=60.0, gt=0, le=DAY_S)
    """One call, unless its tool says otherwise (`limit_s`)."""
    start_s: float = Field(default=60.0, gt=0, le=DAY_S)
    """Until a server has started and said what it is."""
    result_kib: int = Field(default=8_192, ge=1)
    """Largest message of a server that is read, pictures and files included, KiB."""


class SqlSettings(Group):
    """Queries on declared connections."""

    timeout_s: float = Field(default=60.0, gt=0, le=DAY_S)
    """One query."""
    rows: int = Field(default=50_000, ge=1)
    """Rows a query may return; more is an error, never a silent cut."""


class ApprovalSettings(Group):
    """Decision cards."""

    within_s: float = Field(default=86_400.0, gt=0, le=LONGEST_S)
    """Deadline of a card, unless its rule says otherwise (24 h)."""
    undo_s: float = Field(default=86_400.0, gt=0, le=LONGEST_S)
    """How long what a card brought about may be taken back, unless its rule says otherwise (24 h)."""
    review_share: float = Field(default=0.1, ge=0, le=1)
    """Share of what passed by itself that people are asked to review."""
    right_in_a_row: int = Field(default=1_000, ge=1)
    """A kind of action that was right so many times in a row is proposed for the next looser mode."""
    bulk_most: int = Field(default=100, ge=1, le=1_000)
    """Cards that one command or request decides at most."""


class SensorSettings(Group):
    """Sensors and their noise."""

    deduplicate_s: float = Field(default=1_800.0, ge=0, le=LONGEST_S)
    """Signals with the same key inside this window are one (30 min)."""
    look_s: float = Field(default=1.0, gt=0, le=LONGEST_S)
    """How often a server looks whether something is due, and what happened."""
    chain_length: int = Field(default=5, ge=1)
    """Sensors that may lead to each other's events one after the other; what happens behind the last wakes no more."""
    late_s: float = Field(default=300.0, ge=0, le=LONGEST_S)
    """What a cron sensor is late by no more than this was not missed, and is done whatever its catch-up rule says."""
    catch_up_most: int = Field(default=100, ge=1, le=10_000)
    """Times that a cron sensor makes up for at most, the newest ones; those before are told as passed over. Of a
    threshold sensor: periods between two looks that the second one judges."""
    baseline_values: int = Field(default=14, ge=2)
    """Earlier values without which a sensor with a baseline, but no season, does not know what is usual."""
    baseline_seasons: int = Field(default=3, ge=2)
    """Seasons that as many earlier values must fill before a sensor with a season knows what is usual."""


class BlackboardSettings(Group):
    """The board that the agents of one execution share."""

    value_kib: int = Field(default=64, ge=1)
    """Largest value, KiB; larger ones go by reference."""


class DoctorSettings(Group):
    """What `silicon doctor` says of the guards that correct models."""

    retire_under: float = Field(default=0.05, gt=0, le=1)
    """A guard that fired in a smaller share of the occasions on which it could have is a candidate to retire."""
    least_occasions: int = Field(default=100, ge=1)
    """Occasions below which nothing is said of a guard."""
    tools_told: int = Field(default=5, ge=1)
    """Tools with the most wrong calls that are named."""


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
