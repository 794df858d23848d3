"""Employees in hosts reason with a model as those of one process do: the same events, and the same counts of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.application import SiliconApplication
from console.resources import Resources
from console.starter.make import make
from console.views import ExecutionOutcome, RunOptions
from console.views_system import Health
from contracts import OrderState
from runtime.corrections import Guard
from runtime.settings.load import load
from tests.crash.lives import ROOT
from tests.crash.office import faults, ignore
from tests.engines.alike import differences
from tests.engines.house import pid_of
from tests.engines.mill import make_mill
from tests.engines.scenes import Mill, Scene, Seen, play
from tests.fakes.model import calls, control, done, says
from tests.fakes.openai_server.script import Scripted, too_many
from tests.fakes.openai_server.server import MODEL, OpenAIServer, obliging
from tests.silicon import warm_silicon

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]
LOOK = calls(("desk.balance", {"account": "first"}))
PLAN = calls(("propose_plan", {"steps": [{"id": "look", "skill": "go-down", "by": "chief"}]}))
WEEK = calls(("propose_plan", {"steps": [{"id": "look", "skill": "review-week"}]}))
KEY = "sk-canary-of-the-hosts"
TOLD = calls(("state_result", {"text": "It holds 70.", "reached": "yes"}))


@dataclass(frozen=True)
class Thinking:
    """The mill under one of the engines, and the model of its employees."""

    mill: Mill
    server: OpenAIServer

    async def play(self, scene: Scene, script: Sequence[Scripted]) -> Seen:
        """Play a scene with these answers, and see that none is left."""
        before = self.server.count()
        self.server.plays(*script)
        seen = await play(scene, self.mill)
        assert self.server.count() - before == len(script)
        return seen


@pytest.fixture(scope="module")
async def both(
    tmp_path_factory: pytest.TempPathFactory, module_desk: int, ray_cluster: Any
) -> AsyncIterator[tuple[Thinking, Thinking]]:
    """The mill with a model, inline and on Ray, each with a ledger and an endpoint of its own."""
    folder = make_mill(tmp_path_factory.mktemp("thinking") / "mill", module_desk)
    async with AsyncExitStack() as used:
        made = []
        for engine in ("inline", "ray"):
            server, home = obliging(), tmp_path_factory.mktemp(engine)
            used.callback(server.stop)
            settings = {"home": str(home), "workforce.engine": engine, "slot.count": 4, "engine.settle_s": 0.0}
            settings |= {"model.base_url": server.base_url, "model.reason": MODEL, "ledger.synchronous": "NORMAL"}
            resources = Resources(load(settings))
            used.push_async_callback(resources.close)
            mill = Mill(resources, SiliconApplication(resources), home, folder, module_desk)
            told = {each.name: each for each in await mill.application.doctor(folder)}
            assert told[f"model {MODEL}"].health is Health.GOOD
            made.append(Thinking(mill, server))
        yield made[0], made[1]


def goal(text: str, mode: Any) -> Callable[[Mill], Awaitable[ExecutionOutcome]]:
    async def act(mill: Mill) -> ExecutionOutcome:
        outcome = await mill.application.run(mill.folder, RunOptions(goal=text, by="ann", mode=mode), watch=ignore)
        mill.executions.append(outcome.execution_id)
        return outcome

    return act


async def _pondered(mill: Mill) -> ExecutionOutcome:
    return await mill.see_through(await mill.ask("have-pondered"), option="do")


async def _asked_down(mill: Mill) -> ExecutionOutcome:
    return await mill.ask("have-asked-down")


SCENES: dict[str, tuple[Scene, Sequence[Scripted]]] = {
    "a tool is called": (Scene(_pondered, OrderState.DONE, {"balance": 70}), [LOOK, done(balance=70)]),
    "calls that do not fit, an answer that is refused, an endpoint that is busy": (
        Scene(_pondered, OrderState.DONE, {"balance": 70}),
        [calls(("desk.balance", {"acount": 1})), too_many(0), LOOK, says("It is seventy."), done(balance=70)],
    ),
    "an effect after a card": (
        Scene(_pondered, OrderState.DONE, {"balance": 70}, calls=("/payments",)),
        [calls(("desk.pay", {"amount": 5})), done(balance=70)],
    ),
    "a question of the model": (
        Scene(_pondered, OrderState.DONE, {"balance": 70}),
        [control("need_input", question="Which?", choices=["all", "none"]), LOOK, done(balance=70)],
    ),
    "answers that are never taken": (
        Scene(_pondered, OrderState.FAILED, code="OUTPUT_FAULTY"), [done(balance="x")] * 3
    ),
    "skills that others have are called": (
        Scene(_asked_down, OrderState.DONE, {"balance": 70}),
        [calls(("second", {"account": "first"})), calls(("know", {})), done(balance=70)],
    ),
    "a goal that is planned": (Scene(goal("Look into the first account.", "plan"), OrderState.DONE), [PLAN, TOLD]),
    "a goal that is answered": (
        Scene(goal("Who are you?", "answer"), OrderState.DONE, {"text": "The head."}), [says("The head.")]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
async def test_both_engines_tell_the_same_of_a_model(both: tuple[Thinking, Thinking], name: str) -> None:
    scene, script = SCENES[name]
    inline, on_ray = [await thinking.play(scene, script) for thinking in both]

    for seen in (inline, on_ray):
        error = seen.outcome.error
        assert seen.outcome.state is scene.state, error
        assert scene.code is None or (error is not None and error.code == scene.code), error
        assert scene.output is None or seen.outcome.output == scene.output
        assert tuple(path for path in seen.calls if path.startswith("/payments")) == scene.calls
    for one, other in zip(inline.events, on_ray.events, strict=True):
        found = differences(one, other)
        assert found == [], "\n".join(found)
    assert (on_ray.outcome.output, on_ray.calls) == (inline.outcome.output, inline.calls)


async def test_what_was_corrected_in_hosts_is_counted_like_what_was_corrected_here(
    both: tuple[Thinking, Thinking],
) -> None:
    scene, script = SCENES["calls that do not fit, an answer that is refused, an endpoint that is busy"]
    grown = []
    for thinking in both:
        before = dict((await thinking.mill.application.cluster_numbers()).guards)
        await thinking.play(scene, script)
        after = (await thinking.mill.application.cluster_numbers()).guards
        grown.append({series: count - before.get(series, 0) for series, count in after.items()})

    inline, on_ray = [{series: count for series, count in each.items() if count} for each in grown]

    assert on_ray == inline == {  # what is scripted tells of no tokens
        (Guard.ARGUMENTS_INVALID, MODEL, "desk.balance"): 1, (Guard.ANSWER_REFUSED, MODEL, ""): 1,
        (Guard.UNANSWERED, MODEL, ""): 1, (Guard.USAGE_ESTIMATED, MODEL, ""): 4,
    }  # fmt: skip


async def test_doctor_of_another_process_knows_what_hosts_corrected_that_were_killed_since(
    both: tuple[Thinking, Thinking],
) -> None:
    thinking = both[1]
    scene, script = SCENES["calls that do not fit, an answer that is refused, an endpoint that is busy"]
    await thinking.play(scene, script)
    hosts = (await thinking.mill.resources.organisations()).hosts
    assert hosts is not None
    for address in await hosts.ready():
        os.kill(pid_of(address), signal.SIGKILL)
    settings = {"home": str(thinking.mill.home), "model.base_url": thinking.server.base_url, "model.reason": MODEL}
    other = Resources(load(settings))
    try:
        told = {each.name: each for each in await SiliconApplication(other).doctor(thinking.mill.folder)}
    finally:
        await other.close()

    assert told["tools"].facts["desk.balance"]["wrong"] >= 1
    by_guard = {each["guard"]: each["fired"] for each in told[f"defences {MODEL}"].facts["defences"]}
    assert by_guard["answer_refused"] >= 1


def test_a_command_with_a_ray_of_its_own_plans_with_a_model_that_wants_a_key(tmp_path: Path) -> None:
    server = obliging(key=KEY)
    server.when(lambda asked: "propose_plan" in str(asked.json.get("tools")), WEEK)
    make(tmp_path / "bakery")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SILICON_", "RAY_", "OPENAI_"))}
    environment = {
        **kept, "SILICON_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": KEY, "SILICON_MODEL__REASON": MODEL,
    }  # fmt: skip

    def silicon(*words: str) -> Any:
        done = subprocess.run(
            [warm_silicon(), *words, "--json"], env=environment, cwd=tmp_path, capture_output=True, text=True,
            timeout=150, check=False,
        )  # fmt: skip
        return json.loads(done.stdout)

    try:
        ended = silicon("run", "bakery", "Look back at the week.", "--mode", "plan", "--engine", "ray")
        told = {each["name"]: each for each in silicon("doctor", "bakery")["examined"]}
    finally:
        server.stop()

    assert ended["state"] == "waiting" and ended["cards"] and ended["products"], ended["error"]
    occasions = {each["guard"]: each["occasions"] for each in told[f"defences {MODEL}"]["facts"]["defences"]}
    assert occasions["unknown_tool"] == 1, "the call that the host recorded is counted"
    assert KEY.encode() not in b"".join(file.read_bytes() for file in (tmp_path / "home").glob("silicon.db*"))


async def test_nothing_of_that_is_faulty(both: tuple[Thinking, Thinking]) -> None:
    assert [await faults(thinking.mill.application) for thinking in both] == [(), ()]
