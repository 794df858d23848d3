"""Dispatch: which order a step becomes, who gets it, and where it is carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agents.employee import tree
from agents.employee.parameters import complete
from agents.employee.plan import plan
from agents.employee.planning.proposal import addressed, plan_of, skills_below
from agents.employee.plans import Work, call_of, handing_on
from agents.employee.ports import Cluster, KnownSkill, Node, Offer, Staff, Workforce
from agents.employee.reflect import reflect
from contracts import (
    Ancestor,
    Json,
    Name,
    OrderId,
    OrderState,
    PlanDefinition,
    StatusReport,
    Step,
    StepMode,
    TaskOrder,
    Text,
    Tier,
)
from runtime.capabilities.placing import labels_for, torn_between
from runtime.capabilities.port import CapabilitySpec
from runtime.clock import Clock
from runtime.engine.check_tools import tools_of
from runtime.engine.delegation import PROPOSED
from runtime.engine.other_way import forms_of
from runtime.engine.ports import SkillsShown
from runtime.errors import CapabilityFailed, InvalidArguments, NotFound, PermissionRefused
from runtime.ledger.port import Store
from runtime.once import once_for_each
from runtime.settings.groups import EngineSettings

BUILT_IN = "builtin_tool"
"""Kind of the capabilities that come with the program; the cognitive ones are everybody's."""
MUST_CALL = "must_call"
"""Why a skill is shown that its step is not done without."""
LEARNT = "learnt"
"""Under this name an order's context says what an earlier attempt failed for."""


class Dispatcher:
    """Turns steps into orders for others and has them carried out."""

    def __init__(
        self,
        staff: Staff,
        *,
        specs: Mapping[str, CapabilitySpec],
        workforce: Workforce,
        cluster: Cluster,
        store: Store,
        clock: Clock,
        offer: Offer | None = None,
        settings: EngineSettings | None = None,
    ) -> None:
        self._staff = staff
        self._offer = offer
        self._specs = specs
        self._workforce = workforce
        self._cluster = cluster
        self._store = store
        self._clock = clock
        self._settings = settings or EngineSettings()

    def order_for(
        self, parent: TaskOrder, step: Step, arguments: dict[str, Json], *, index: int | None, learnt: str | None
    ) -> TaskOrder:
        """Return the order for one step, with a fresh id; what the parent was given is handed on, never widened.

        Acceptance checks of the step stay with the giver: its engine judges them and asks again with what was learnt.
        The plan of a step that names a capability is that one call, with the step's own effect, retries and time-out.
        The engine asks in the same way for an action that a person decided for, and puts the card on the order.

        Raises:
            InvalidArguments: nobody of that id is at or below the parent's employee, or the arguments do not fit.
            PermissionRefused: the employee has neither the skill nor the capability.
        """
        giver = tree.find(self._staff.head, parent.employee)
        taker = tree.find(giver, step.by or parent.employee)
        if step.skill is not None:
            return self._order_for_skill(parent, taker, step, arguments, learnt)
        if step.plan is not None:
            work = Work(addressed(plan_of(arguments[PROPOSED]), taker), {})
            return self._child(parent, taker, step, work, learnt, objective=parent.objective)
        assert step.use is not None, "the engine keeps every other mode to itself"
        spec = self._capability(taker, step.use)
        work = call_of(
            step.use, arguments, resources=spec.resources,
            effect=step.effect, retries=step.retries, timeout_s=step.timeout_s,
        )  # fmt: skip
        objective = _words(step.description, parent.language) or f"Call {step.use} for {parent.objective}"
        return self._child(parent, taker, step, work, learnt, objective=objective, spec=spec)

    def skill_tools(self, order: TaskOrder, skills: Sequence[Name]) -> Sequence[CapabilitySpec]:
        """Return skills as a model of this order calls them; raise NotFound for one that there is not."""
        return [
            self._offered().forms.tool(skill_of(self._staff, name).name, language=order.language) for name in skills
        ]

    def told(self, skill: Name, output: Json) -> str | None:
        """Return what a skill gave as its own template tells a model; None where it has none that this fits."""
        return self._offered().forms.told(skill, output)

    async def fitting_skills(self, order: TaskOrder, task: str, *, beside: Sequence[str]) -> SkillsShown:
        """Return the skills that a model is shown for a task: of those at or below whoever has the order.

        A skill that the order is part of is none of them, nor one that several have: nobody could say whose it is.

        Raises:
            PermissionRefused: the step is not done without a skill that it cannot be given.
        """
        node = tree.find(self._staff.head, order.employee)
        around = {order.skill, *(above.skill for above in order.chain)}
        able = [
            name
            for name in skills_below(self._staff, node)
            if name not in around and len(tree.nearest_with(node, name)) == 1
        ]
        for name in (name for name in beside if name in self._staff.skills and name not in (*able, *self._specs)):
            raise _cannot_be_given(node, name, inside=name in around)
        shown = await self._offered().choice.for_step(node.id, task, able)
        due = [name for name in beside if name in shown.left_out]
        return replace(
            shown,
            names=(*shown.names, *due),
            reasons={**shown.reasons, **dict.fromkeys(due, MUST_CALL)},
            left_out=[name for name in shown.left_out if name not in due],
        )

    def _offered(self) -> Offer:
        if self._offer is None:
            raise CapabilityFailed("Models cannot be given skills to call here: nobody says in which form.")
        return self._offer

    async def carry_out(self, order: TaskOrder) -> StatusReport:
        """Have the order done, in a slot where it needs one, and return its report, judged by what it asked for.

        Every order of an execution passes here. One whose plan calls what its employee may not use fails before it
        begins, whoever wrote the plan.
        """
        try:
            self._require_rights(order)
            if order.tier is Tier.EXECUTION:  # an employee of the cognitive tier looks at its own plan
                plan(order, self._staff, order.employee, settings=self._settings)
                self._require_one_place(order)
        except CapabilityFailed as error:
            return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())
        if order.tier is Tier.EXECUTION:
            placed = self._placeable(order)
            return await reflect(placed, await self._cluster.submit(placed), self._store)
        return await self._workforce.deliver(order)

    def _require_rights(self, order: TaskOrder) -> None:
        """Return when the employee may use all that it calls itself."""
        employee = tree.find(self._staff.head, order.employee)
        for use in self._called(order.plan):
            self._capability(employee, use)

    def _require_one_place(self, order: TaskOrder) -> None:
        """Return when one slot can hold all that the order calls; `silicon check` finds it in plans of the folder."""
        torn = torn_between(self._used(order.plan))
        if torn is not None:
            inside, outside = (", ".join(names) for names in torn)
            raise InvalidArguments(
                f"The order for {order.employee} calls {inside}, which needs a sandbox, and {outside}, which a bridge "
                "carries out without one: no node can take it. Make two orders of it, for example two skills.",
                sandboxed=list[Json](torn[0]), bridged=list[Json](torn[1]),
            )  # fmt: skip

    def _called(self, plan: PlanDefinition) -> Iterator[Name]:
        """Yield the capabilities that whoever has the plan calls: in steps, branches, and other ways to do them."""
        return (use for use in _uses(plan) if use in self._specs)

    def _placeable(self, order: TaskOrder) -> TaskOrder:
        """Return the order with all that its plan wants of a node; the first one was given by nobody who knows."""
        labels = tuple(dict.fromkeys((*order.labels, *self._labels(order.plan, order.organisation))))
        needs = tuple(dict.fromkeys((*order.needs, *self._needs(order.plan))))
        return order.model_copy(update={"labels": labels, "needs": needs})

    def _labels(self, plan: PlanDefinition, organisation: Name) -> tuple[str, ...]:
        """Return the labels a node must have for every step of the plan, and for what takes steps back."""
        effects = [form.effect for own in plan.all_steps() for form in forms_of(own) if form.effect is not None]
        return labels_for(organisation, self._used(plan), effects)

    def _used(self, plan: PlanDefinition) -> Sequence[CapabilitySpec]:
        """Return what the plan calls, and what takes its steps back."""
        backs = [step.compensate.use for step in plan.all_steps() if step.compensate is not None]
        return [self._specs[use] for use in (*self._called(plan), *backs) if use in self._specs]

    def _needs(self, plan: PlanDefinition) -> tuple[str, ...]:
        """Return what a node's sandbox must hold for every step of the plan; one slot does them all."""
        return tuple(dict.fromkeys(name for use in self._called(plan) for name in self._specs[use].needs))

    def _order_for_skill(
        self, parent: TaskOrder, taker: Node, step: Step, arguments: Mapping[str, Json], learnt: str | None
    ) -> TaskOrder:
        assert step.skill is not None, "only steps with a skill come here"
        skill = skill_of(self._staff, step.skill)
        inputs = complete(
            skill.plan.parameters,
            arguments,
            known_at=parent.known_at or self._clock.now(),
            time_zone=self._staff.time_zone,
            whose=f"the skill {skill.name}, asked for by step {step.id}",
            language=parent.language,
        )
        objective = _words(step.description, parent.language) or _words(skill.description, parent.language)
        work, own = work_of(self._staff, taker, skill, inputs)
        return self._child(parent, taker, step, work, learnt, objective=objective, skill=skill if own else None)

    def _capability(self, taker: Node, use: str) -> CapabilitySpec:
        if use not in self._specs:
            raise NotFound(f"There is no capability {use}.", name=use)
        spec = self._specs[use]
        everybodys = spec.kind == BUILT_IN and spec.tier is Tier.COGNITIVE
        if not everybodys and use not in taker.can:
            able = [node.id for node in tree.everyone(self._staff.head) if use in node.can]
            raise PermissionRefused(
                f"{taker.id} may not use {use}: it is not among what this employee can do "
                f"({', '.join(taker.can) or 'nothing'}). {_who('can use it', able)} To change that, add it to `can` of "
                f"{taker.id} in org.yaml.",
                employee=taker.id, use=use, able=list[Json](able),
            )  # fmt: skip
        return spec

    def _child(
        self, parent: TaskOrder, taker: Node, step: Step, work: Work, learnt: str | None,
        *, objective: str, skill: KnownSkill | None = None, spec: CapabilitySpec | None = None,
    ) -> TaskOrder:  # fmt: skip
        tier = spec.tier if spec is not None else skill.tier if skill is not None else Tier.COGNITIVE
        above = Ancestor(order_id=parent.order_id, employee=parent.employee, skill=parent.skill, step=step.id)
        return TaskOrder(
            order_id=OrderId.new(),
            execution_id=parent.execution_id,
            organisation=parent.organisation,
            employee=taker.id,
            issued_by=parent.employee,
            objective=objective,
            constraints=parent.constraints,
            skill=None if skill is None else skill.name,
            plan=work.plan,
            inputs=work.inputs,
            labels=self._labels(work.plan, parent.organisation) if tier is Tier.EXECUTION else (),
            needs=self._needs(work.plan) if tier is Tier.EXECUTION else (),
            priority=parent.priority,
            tier=tier,
            workspace=taker.workspace if tier is Tier.EXECUTION else None,
            approval_mode=parent.approval_mode,
            budget=parent.budget,
            deadline=parent.deadline,
            knowledge_scope=parent.knowledge_scope,
            context=_context(parent, learnt),
            chain=(*parent.chain, above),
            requested_by=parent.requested_by,
            known_at=parent.known_at,
            language=parent.language,
            trace_id=parent.trace_id,
        )


@once_for_each(256)
def _uses(plan: PlanDefinition) -> Sequence[Name]:
    """Return what the plan names to be called, each as often as it is named."""
    forms = [form for own in plan.all_steps() for form in forms_of(own)]
    called = ((form.use,) if form.mode is StepMode.DIRECT else tools_of(form) for form in forms)
    return [use for uses in called for use in uses if use is not None]


def skill_of(staff: Staff, name: Name) -> KnownSkill:
    """Return the skill; raise NotFound with those there are."""
    if name not in staff.skills:
        raise NotFound(f"There is no skill {name}. There is: {', '.join(staff.skills)}.", name=name)
    return staff.skills[name]


def work_of(staff: Staff, taker: Node, skill: KnownSkill, inputs: dict[str, Json]) -> tuple[Work, bool]:
    """Return the plan with which `taker` does the skill, and whether it is the skill's own.

    Who does not have the skill hands it one level down, towards the one below who has it; each manager on the way
    holds an order.

    Raises:
        PermissionRefused: nobody at or below `taker` has the skill.
        InvalidArguments: several have it, and none is named.
    """
    able = tree.nearest_with(taker, skill.name)
    if not able:
        others = [node.id for node in tree.everyone(staff.head) if skill.name in node.skills]
        raise PermissionRefused(
            f"Neither {taker.id} nor anybody below has the skill {skill.name}. {_who('has it', others)}",
            employee=taker.id, skill=skill.name, able=list[Json](others),
        )  # fmt: skip
    if len(able) > 1:
        names = [node.id for node in able]
        raise InvalidArguments(
            f"{' and '.join(names)} both have the skill {skill.name}; name in `by` the one that is meant.",
            skill=skill.name, able=list[Json](names),
        )  # fmt: skip
    if able[0].id == taker.id:
        return Work(skill.plan, inputs), True
    return handing_on(skill.name, tree.next_on_the_way(taker, able[0].id).id, inputs), False


def _context(parent: TaskOrder, learnt: str | None) -> dict[str, Json]:
    context = {name: fact for name, fact in parent.context.items() if name != LEARNT}
    return context if learnt is None else {**context, LEARNT: learnt}


def _cannot_be_given(node: Node, skill: Name, *, inside: bool) -> PermissionRefused:
    able = [each.id for each in tree.nearest_with(node, skill)]
    if inside:
        why = "its own order is part of one for it; offer it by name in `skills` if it is to be done inside itself"
    elif able:
        why = f"{' and '.join(able)} have it, and a call names nobody; let a skill of its own name in `by` who does it"
    else:
        why = f"neither {node.id} nor anybody below has it; add it to the `skills` of one of them in org.yaml"
    return PermissionRefused(
        f"The step is not done without the skill {skill}, and `skills: all` cannot offer it: {why}.",
        employee=node.id, skill=skill, able=list[Json](able),
    )  # fmt: skip


def _words(text: Text, language: str) -> str:
    if isinstance(text, str):
        return text
    return text.get(language, text.get("en", next(iter(text.values()), "")))


def _who(what: str, names: list[str]) -> str:
    return f"{' and '.join(names)} {what}." if names else f"Nobody {what}."
