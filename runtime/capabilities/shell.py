"""`shell`: a command run in the slot: a line for `/bin/sh`, or a program with its arguments."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from contracts import Effect, EvidenceItem, EvidenceKind, Json, Parameter, Tier, ValueType
from runtime.canonical import clean, sha256, to_bytes
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.capabilities.python_code import TO_TELL_S, result_of, sandbox_of
from runtime.capabilities.resources import name_of, text_of
from runtime.errors import BusinessRefusal, CapabilityTimeout, InvalidArguments
from runtime.settings import SlotSettings

SPEC = CapabilitySpec(
    name="shell",
    kind="builtin_tool",
    description="Run a command in the slot's folder. Arguments beside these are environment variables of the command.",
    parameters={
        "command": Parameter(
            type=ValueType.STRING,
            required=False,
            description="A line for /bin/sh, or a .sh file of the skill's folder.",
            example='sort -u rates.csv > "$NAME"',
        ),
        "argv": Parameter(
            type=ValueType.ARRAY,
            required=False,
            description="A program and its arguments, in the place of `command`; no shell reads them.",
            example=["sort", "-u", "rates.csv"],
        ),
        "stdin": Parameter(type=ValueType.STRING, required=False, description="Its standard input.", example="b\na\n"),
        "expect": Parameter(
            type=ValueType.ARRAY,
            default=[0],
            description="Exit codes that are no failure.",
            example=[0, 1],
        ),
    },
    gives={"exit_code": "integer", "stdout": "string", "stderr": "string"},
    effect=Effect.READ,
    tier=Tier.EXECUTION,
    sandboxed=True,
    needs=("network",),  # what it can reach it can change, and then it would be no `read`
    timeout_s=SlotSettings().wall_s + TO_TELL_S,
    resources=("command",),
    open_arguments=True,
)
_SHOWN = 4_000
_SAID = 300
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEPT = frozenset({"PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "IFS", "ENV", "BASH_ENV"})
"""Variables that decide which programs run; a value from data must not."""
_RUN = """
import os, subprocess
given = inputs["stdin"]
how = {"stdin": subprocess.DEVNULL} if given is None else {"input": given.encode()}
try:
    result = subprocess.run(inputs["argv"], env={**os.environ, **inputs["variables"]}, check=False, **how).returncode
except OSError as error:
    result = f"{error.strerror}: {error.filename}"
"""


class Shell:
    """The capability. The command runs under the limits of the slot, and nothing it started outlives it."""

    def __init__(self, slot: SlotSettings) -> None:
        self.spec = replace(SPEC, timeout_s=slot.wall_s + TO_TELL_S)

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return exit code and output; raise BusinessRefusal for an exit code that is not expected."""
        sandbox = sandbox_of(context, self.spec.name)
        argv, shown = _argv(arguments)
        asked: dict[str, Json] = {
            "argv": list(argv), "variables": _variables(arguments), "stdin": arguments.get("stdin")
        }  # fmt: skip
        ended = await sandbox.run_python(_RUN, stdin=to_bytes(asked))
        code = result_of(ended, shown)
        if not isinstance(code, int):
            raise InvalidArguments(f"{shown} cannot be run: {code}.", command=shown)
        output = cast(dict[str, Json], clean({"exit_code": code, "stdout": ended.stdout, "stderr": ended.stderr}))
        _require_expected(code, arguments.get("expect"), shown, str(output["stderr"]) or str(output["stdout"]))
        facts: dict[str, Json] = {
            "command": shown, "command_sha256": sha256(list(argv)), "inputs_sha256": sha256(asked), "exit_code": code,
            "seconds": round(ended.seconds, 3),
        }  # fmt: skip
        facts |= {name: str(output[name])[-_SHOWN:] for name in ("stdout", "stderr") if output[name]}
        item = EvidenceItem(
            kind=EvidenceKind.CALL, at=context.now, step=context.step, capability=self.spec.name,
            sha256=sha256(output), facts=facts,
        )  # fmt: skip
        return CallResult(output, evidence=(item,))


def _argv(arguments: Mapping[str, Json]) -> tuple[list[str], str]:
    """Return the program with its arguments, and what to call it in messages."""
    command, argv = arguments.get("command"), arguments.get("argv")
    if (command is None) == (argv is None):
        raise InvalidArguments("shell takes either `command` (a line for /bin/sh) or `argv` (a list of texts).")
    if command is not None:
        line = text_of(command)
        return ["/bin/sh", "-c", line], name_of(command) or _short(line)
    if not isinstance(argv, list) or not argv or not all(isinstance(part, str) and part for part in argv[:1]):
        raise InvalidArguments("`argv` is a list that begins with a program.", argv=argv)
    parts = [_text(part) for part in argv]
    return parts, _short(" ".join(parts))


def _variables(arguments: Mapping[str, Json]) -> dict[str, Json]:
    given = {name: value for name, value in arguments.items() if name not in SPEC.parameters}
    for name in given:
        if not _VARIABLE.fullmatch(name) or name in _KEPT:
            raise InvalidArguments(f"`{name[:100]}` cannot be a variable of a command here. Give it another name.")
    return {name: _text(value) for name, value in given.items()}


def _text(value: Json) -> str:
    text = value if isinstance(value, str) else to_bytes(value).decode()
    if "\0" in text:
        raise InvalidArguments("A command cannot be passed a text that holds NUL.")
    return text


def _require_expected(code: int, expected: Json, shown: str, said: str) -> None:
    if isinstance(expected, list) and code in expected:
        return
    if code == -signal.SIGXCPU:
        raise CapabilityTimeout(
            f"{shown} used up its computing time and was stopped. It may be in an endless loop; otherwise raise the "
            "setting slot.cpu_s.", command=shown, limit="cpu_time",
        )  # fmt: skip
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    last = f": {said.strip().splitlines()[-1][:_SAID]}" if said.strip() else "."
    raise BusinessRefusal(f"{shown} {how}{last}", command=shown, exit_code=code, output=said[-_SHOWN:])


def _short(line: str) -> str:
    first = line.strip().split("\n", 1)[0]
    return f"`{first[:80]}…`" if len(first) > 80 or first != line.strip() else f"`{first}`"
