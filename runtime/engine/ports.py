"""What the step engine needs from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts import Json, Name, Problem, StatusReport, Step, TaskOrder
from runtime.capabilities.port import CapabilitySpec
from runtime.errors import VersionConflict
from runtime.ledger.port import Append


class Delegate(Protocol):
    """Where steps go that another employee does."""

    def order_for(
        self, parent: TaskOrder, step: Step, arguments: dict[str, Json], *, index: int | None, learnt: str | None
    ) -> TaskOrder:
        """Return the order for one step (or one repetition of it), with a fresh id.

        `learnt` is what an earlier attempt failed for. Raises CapabilityFailed when nobody of that name may get it.
        """
        ...

    def skill_tools(self, order: TaskOrder, skills: Sequence[Name]) -> Sequence[CapabilitySpec]:
        """Return skills as a model of this order calls them: each by its name, of the kind `skill`.

        Raises NotFound for a skill that there is not.
        """
        ...

    def told(self, skill: Name, output: Json) -> str | None:
        """Return what a skill gave as its own template tells a model; None where it has none that this fits."""
        ...

    async def fitting_skills(self, order: TaskOrder, task: str, *, beside: Sequence[str]) -> SkillsShown:
        """Return the skills that a model is shown for a task, of all that whoever has the order can have done.

        Those that `beside` names are among them, whatever the task; names of other things in it are passed over.
        """
        ...

    async def carry_out(self, order: TaskOrder) -> StatusReport:
        """Have the order done and return its report; the same order again goes on where it stood."""
        ...


@dataclass(frozen=True, slots=True)
class FilesLeft:
    """What a step left in the slot's folder, for the commit that tells how it ended."""

    appends: Sequence[Append]
    blobs: Sequence[bytes]
    stored: Callable[[], None]
    """Called once the commit is on disk."""


class SlotFiles(Protocol):
    """The files of an order's slot. What a step left there is kept in the commit that tells how the step ended."""

    async def left_by(self, step: str) -> FilesLeft | None:
        """Return what changed since the last commit, told as what this step left; None when nothing did."""
        ...

    async def catch_up(self, conflict: VersionConflict) -> None:
        """Take in what another wrote meanwhile, so that `left_by` can be asked again; raise what is not ours to mend.

        Raises:
            VersionConflict: the conflict is about another stream.
            StaleWriter: somebody else has the order now.
        """
        ...

    def problem(self, *, done: bool) -> Problem | None:
        """Return why the order must not go on, or, `done`, must not count as done; None when nothing is wrong."""
        ...


@dataclass(frozen=True, slots=True)
class SkillsShown:
    """Which skills a model is shown for a task, and why."""

    names: Sequence[Name]
    """The core first, then what fits the task, best first, then what a rule calls for; each once."""
    reasons: Mapping[Name, str]
    """Shown skill → `core`, `few` (all are shown), `fits`, or `rule: ` and what holds."""
    left_out: Sequence[Name]
    """The other skills that were looked at."""
    without_meaning: str = ""
    """Why words alone had to say what fits although a model of embeddings is set; empty otherwise."""


class SkillChoice(Protocol):
    """Which of an employee's skills are worth a place in the prompt of a step."""

    async def for_step(self, employee: Name, task: str, among: Sequence[Name] | None = None) -> SkillsShown:
        """Return the skills that are shown for the task.

        Asked once for a step, at its start: what is answered is recorded there, so that the step goes on with the same
        skills after a crash, and its prompt keeps its beginning. A search by meaning that is not to be had fails
        nothing; words alone decide then, and the answer says why.

        Args:
            employee: whose model it is; rules may name it.
            task: what the step is about, its values filled in.
            among: the skills that are looked at, in their order; None for all of the employee's.

        Raises:
            NotFound: there is no such employee, or no such skill.
        """
        ...
