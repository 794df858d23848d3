"""`python`: a script of the skill, run in the slot. It reads `inputs` and sets `result`.

`python.online` is the same with the network, a capability of its own: an employee has it only where the organisation
names it, and a script that can talk to the world can change it, so that an approval stands before each run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from contracts import Effect, EvidenceItem, EvidenceKind, Json, Parameter, Tier, ValueType
from runtime.canonical import clean, sha256, to_bytes
from runtime.capabilities.port import NO_GRANTS, CallContext, CallResult, CapabilitySpec, Grants, Sandbox, SandboxResult
from runtime.capabilities.resources import name_of, text_of
from runtime.errors import BusinessRefusal, CapabilityFailed, CapabilityTimeout, InvalidArguments
from runtime.settings import SlotSettings

TO_TELL_S = 30.0
"""The slot's own clock ends a script first, because it can tell why."""

SPEC = CapabilitySpec(
    name="python",
    kind="builtin_tool",
    description="Run a Python script in the slot. Arguments beside `script` are its `inputs`; it sets `result`.",
    parameters={
        "script": Parameter(
            type=ValueType.STRING,
            description="The script, or a .py file of the skill's folder.",
            example="result = inputs['a'] + 1",
        )
    },
    gives={"result": "any"},
    effect=Effect.READ,
    tier=Tier.EXECUTION,
    sandboxed=True,
    timeout_s=SlotSettings().wall_s + TO_TELL_S,
    resources=("script",),
    open_arguments=True,
)
ONLINE_SPEC = replace(
    SPEC,
    name="python.online",
    description="Run a Python script in the slot, with the network. Otherwise the same as `python`.",
    effect=Effect.IRREVERSIBLE,
)
_SHOWN = 4_000


class PythonCode:
    """The capability. The script runs in a process of its own under the limits of the slot."""

    def __init__(self, slot: SlotSettings, *, online: bool = False) -> None:
        self.spec = replace(ONLINE_SPEC if online else SPEC, timeout_s=slot.wall_s + TO_TELL_S)
        self._grants = Grants(network=True) if online else NO_GRANTS

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return `{result}`; raise with the script's name, the line and what to do about it."""
        sandbox = sandbox_of(context, self.spec.name)
        script = text_of(arguments["script"])
        name = name_of(arguments["script"]) or "The script of the plan"
        inputs = {key: value for key, value in arguments.items() if key != "script"}
        ended = await sandbox.run_python(script, stdin=to_bytes(inputs), grants=self._grants)
        result = result_of(ended, name)
        facts: dict[str, Json] = {
            "script": name,
            "script_sha256": sha256(script.encode()),
            "inputs_sha256": sha256(inputs),
            "seconds": round(ended.seconds, 3),
        }
        if ended.stdout:
            facts["printed"] = clean(ended.stdout[-_SHOWN:])
        item = EvidenceItem(
            kind=EvidenceKind.CALL, at=context.now, step=context.step, capability=self.spec.name,
            sha256=sha256(result), facts=facts,
        )  # fmt: skip
        return CallResult({"result": result}, evidence=(item,))


def sandbox_of(context: CallContext, capability: str) -> Sandbox:
    """Return the slot of the call; raise InvalidArguments when the work was not given to one."""
    if context.sandbox is None:
        raise InvalidArguments(
            f"{capability} works in a slot, and step {context.step} has none. Give it to an employee with `by`.",
            capability=capability,
        )
    return context.sandbox


def result_of(ended: SandboxResult, name: str) -> Json:
    """Return what the script set as `result`; raise the error that says how it failed instead."""
    if ended.killed_for is not None:
        raise _stopped(ended, name)
    answer = _answer_of(ended)
    match answer.get("state"):
        case "done":
            return clean(answer.get("result"))
        case "raised":
            where = f" in line {answer['line']}" if answer.get("line") else ""
            raise CapabilityFailed(
                f"{name} failed{where}: {answer.get('error')}", script=name, line=answer.get("line"),
                traceback=clean(ended.stderr[-_SHOWN:]),
            )  # fmt: skip
        case "no_result":
            raise BusinessRefusal(f"{name} ended without setting `result`.", script=name)
        case "not_json":
            raise BusinessRefusal(
                f"{name} set `result` to something that is no JSON: {answer.get('error')}. "
                "Use numbers, texts, lists and objects.",
                script=name,
            )
    raise CapabilityFailed(
        f"{name} ended by itself before it was done (exit code {ended.exit_code}); a script must not leave its process "
        "or close its channels.",
        script=name, exit_code=ended.exit_code, traceback=clean(ended.stderr[-_SHOWN:]),
    )  # fmt: skip


def _stopped(ended: SandboxResult, name: str) -> CapabilityFailed:
    facts: dict[str, Json] = {"script": name, "limit": ended.killed_for, "seconds": round(ended.seconds, 1)}
    match ended.killed_for:
        case "wall_time":
            return CapabilityTimeout(
                f"{name} ran for {ended.seconds:.0f} s without ending and was stopped. Give it less to do, or raise "
                "the setting slot.wall_s.", **facts,
            )  # fmt: skip
        case "cpu_time":
            return CapabilityTimeout(
                f"{name} used up its computing time and was stopped. It may be in an endless loop; otherwise raise the "
                "setting slot.cpu_s.", **facts,
            )  # fmt: skip
        case "memory":
            return CapabilityFailed(
                f"{name} needed more memory than the slot has. Give it less data at once, or raise the setting "
                "slot.memory_mib.", **facts,
            )  # fmt: skip
        case "signal":
            return CapabilityFailed(
                f"{name} was killed by the system (signal 9). A frequent cause is memory: give it less data, or "
                "see what else runs on this machine.", **facts,
            )  # fmt: skip
        case "disk":
            return BusinessRefusal(
                f"{name} wrote more files than the slot has room for and was stopped. Write less, or raise the setting "
                "slot.disk_mib.", **facts,
            )  # fmt: skip
        case "output":
            return CapabilityFailed(
                f"{name} printed more than is kept and was stopped. Print less, or raise the setting slot.output_kib.",
                **facts,
            )
        case "result":
            return BusinessRefusal(
                f"{name} gave a result larger than a step may hand on. Sum it up, write it with files.write, or raise "
                "the setting slot.result_kib.", **facts,
            )  # fmt: skip
    return CapabilityFailed(f"{name} was stopped ({ended.killed_for}).", **facts)


def _answer_of(ended: SandboxResult) -> dict[str, Json]:
    try:
        value = json.loads(ended.answer) if ended.answer else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}
