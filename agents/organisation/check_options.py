"""Options of decisions: what they name exists, and what can be taken back says how."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from agents.cognition.advise.expectation import EXPECTS, MAY
from agents.cognition.advise.options import DENIES, DENY, ActionTemplate, OptionsFile, OptionTemplate
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft, Read, SkillDraft
from agents.organisation.fault import Fault
from agents.organisation.hints import capability_hint
from agents.organisation.tree import Tree
from agents.organisation.yaml_source import Path, texts
from contracts import Effect, Json, Step, ValueType
from governance.approvals.matching import action_of
from governance.approvals.rule import DEFAULT_RULE
from governance.policies import PolicyRequest
from governance.policies.policy import VARIABLES
from runtime.bindings import BindingFault, is_file, reference_of, texts_of
from runtime.capabilities.port import CapabilitySpec
from runtime.expressions import ExpressionFault, compile_condition, names_in
from runtime.schema import fault_of, field_schema


def options_faults(draft: Draft, skill: SkillDraft, tree: Tree) -> Iterator[Fault]:
    """Yield what is wrong with the options files that the skill's plan uses, or should use."""
    for name, read in skill.options.items():
        there = _names(skill, name)
        yield from _file_faults(draft, read)
        yield from _binding_faults(read, there)
        for number, option in enumerate(read.value.options):
            path = ("options", number)
            yield from _option_faults(draft, read, option, path, there)
            yield from _undo_faults(draft, read, option, path)
            for field, actions in (("do", option.do), ("undo", option.undo)):
                for index, action in enumerate(actions):
                    yield from _action_faults(draft, skill, read, action, path=(*path, field, index), tree=tree)
    unused = f"skills/{skill.name}/options.yaml"
    if "options.yaml" not in skill.options and unused in draft.files.names() and skill.plan and not _named(skill):
        yield Fault(unused, 0, "No step of the plan uses these options.", "Add a step with `use: advise`.")


def _named(skill: SkillDraft) -> bool:
    return any(True for _ in _advising(skill, "options.yaml"))


def _advising(skill: SkillDraft, name: str) -> Iterator[Step]:
    for step in skill.plan.value.all_steps() if skill.plan else ():
        options = step.arguments.get("options")
        if isinstance(options, dict) and is_file(options) and options["file"] == name:
            yield step


def _names(skill: SkillDraft, name: str) -> set[str]:
    """Return what the options can name: the arguments of the steps that use them, the context and the moment."""
    given = [set(step.arguments) for step in _advising(skill, name)]
    return {"context", "known_at"} | (set.intersection(*given) - {"options"} if given else set())


def _file_faults(draft: Draft, read: Read[OptionsFile]) -> Iterator[Fault]:
    rules = draft.org.value.approvals if draft.org else None
    policy = read.value.policy or DEFAULT_RULE
    if rules is not None and policy not in rules:
        yield read.fault(("policy",), f"There is no approval rule `{policy}` in org.yaml.", nearest(policy, rules))
    nothing = [option for option in read.value.options if not option.do]
    if len(nothing) > 1:
        yield read.fault(("options",), "More than one option does nothing.", "Keep one of them.")
    always = [option for option in read.value.options if option.do and option.when is None]
    if len(always) > 2:
        yield read.fault(("options",), f"{len(always)} options always apply; a card shows two, and doing nothing.")


def _binding_faults(read: Read[OptionsFile], there: set[str]) -> Iterator[Fault]:
    for path, text in texts(read.source.value):
        if path and path[-1] == "when":
            continue
        for inside in texts_of(text):
            reference = inside.partition("|")[0].strip()
            try:
                root = reference_of(reference).root
            except BindingFault as fault:
                yield read.fault(path, str(fault))
                continue
            if root not in there:
                what = f"There is no `{root}` here; options see the arguments of the step that uses them."
                yield read.fault(path, what, nearest(root, there))


def _expects_faults(draft: Draft, read: Read[OptionsFile], expects: Json, path: Path) -> Iterator[Fault]:
    if expects is None or isinstance(expects, str):
        if isinstance(expects, str) and "{{" not in expects:
            yield read.fault(path, "`expects` is an object, or a binding to one.", "Bind it to `next` of `explain`.")
        return
    if not isinstance(expects, dict):
        yield read.fault(path, "`expects` is an object, or a binding to one.", "Bind it to `next` of `explain`.")
        return
    for name in EXPECTS:
        if name not in expects:
            yield read.fault(path, f"`expects` lacks `{name}`.", f"It takes {', '.join((*EXPECTS, *MAY))}.")
    for name in expects:
        if name not in (*EXPECTS, *MAY):
            yield read.fault((*path, name), f"`expects` has no field `{name}`.", nearest(name, (*EXPECTS, *MAY)))
    metric, grain = expects.get("metric"), expects.get("grain")
    if isinstance(metric, str) and "{{" not in metric:
        found = draft.metrics.get(metric)
        if found is None:
            yield read.fault((*path, "metric"), f"There is no metric `{metric}`.", nearest(metric, draft.metrics))
        elif isinstance(grain, str) and "{{" not in grain and grain not in found.value.grains:
            offered = ", ".join(found.value.grains)
            yield read.fault((*path, "grain"), f"`{metric}` is not read by {grain}.", f"It has: {offered}.")


def _option_faults(
    draft: Draft, read: Read[OptionsFile], option: OptionTemplate, path: Path, there: set[str]
) -> Iterator[Fault]:
    if option.id == DENY:
        yield read.fault((*path, "id"), DENIES, "Call the option something else.")
    confidence = option.confidence
    if confidence is not None and confidence not in ("high", "medium", "low") and "{{" not in confidence:
        yield read.fault((*path, "confidence"), f"`confidence` is high, medium, low or a binding, not {confidence!r}.")
    yield from _expects_faults(draft, read, option.expects, (*path, "expects"))
    if option.when is None:
        return
    try:
        compile_condition(option.when, dict.fromkeys(there, ValueType.ANY))
    except ExpressionFault as fault:
        yield read.fault((*path, "when"), f"`{option.when}`: {fault.message}")


def _undo_faults(draft: Draft, read: Read[OptionsFile], option: OptionTemplate, path: Path) -> Iterator[Fault]:
    effects = [draft.specs[action.use].effect for action in option.do if action.use in draft.specs]
    if option.reversible and Effect.IRREVERSIBLE in effects:
        what = f"`{option.id}` cannot be reversible: what it does is irreversible."
        yield read.fault((*path, "reversible"), what, "Write `reversible: false`.")
    elif option.reversible and Effect.WRITE in effects and not option.undo:
        what = f"`{option.id}` is reversible but does not say how it is taken back."
        yield read.fault(path, what, "Add `undo`, or write `reversible: false`.")


def _action_faults(
    draft: Draft, skill: SkillDraft, read: Read[OptionsFile], action: ActionTemplate, *, path: Path, tree: Tree
) -> Iterator[Fault]:
    spec = draft.specs.get(action.use)
    if spec is not None:
        faults = list(_argument_faults(read, spec, action, path))
        yield from faults
        if not faults and path[-2] == "do":
            yield from _rule_faults(draft, read, spec, action, path)
    elif action.use.partition(".")[0] not in draft.unread:
        hint = capability_hint(draft, action.use)
        yield read.fault((*path, "use"), f"There is no capability `{action.use}`.", hint)
    if draft.org is None:
        return
    doer = draft.employees.get(action.by)
    if doer is None:
        yield read.fault((*path, "by"), f"There is no employee `{action.by}`.", nearest(action.by, draft.employees))
        return
    if spec is not None and spec.name not in doer.can:
        yield read.fault((*path, "use"), f"`{doer.id}` may not use `{spec.name}`.", "Add it to its `can` in org.yaml.")
    for owner in tree.owners(skill.name):
        if not tree.is_below(doer.id, owner.id):
            what = f"`{doer.id}` does not report to `{owner.id}`, which has the skill `{skill.name}`."
            yield read.fault((*path, "by"), what)


def _argument_faults(
    read: Read[OptionsFile], spec: CapabilitySpec, action: ActionTemplate, path: Path
) -> Iterator[Fault]:
    for name, parameter in spec.parameters.items():
        if parameter.must_be_given and name not in action.arguments:
            yield read.fault(path, f"`{spec.name}` needs `{name}` ({parameter.type.value}).")
    for name, value in action.arguments.items():
        place = (*path, "with", name)
        if name not in spec.parameters and not spec.open_arguments:
            yield read.fault(place, f"`{spec.name}` has no parameter `{name}`.", nearest(name, spec.parameters))
        elif name in spec.parameters and not any(texts_of(value)):
            fault = fault_of(value, field_schema(spec.parameters[name].type.value))
            if fault:
                yield read.fault(place, f"`{name}` of `{spec.name}` {fault.removeprefix('It ')}")


def _rule_faults(
    draft: Draft, read: Read[OptionsFile], spec: CapabilitySpec, action: ActionTemplate, path: Path
) -> Iterator[Fault]:
    """Yield which rules forbid the action whatever the bindings give: it would never be offered to anybody."""
    bound = {name for name, value in action.arguments.items() if any(texts_of(value))}
    given = action_of(spec, action.by, {name: v for name, v in action.arguments.items() if name not in bound})
    request = PolicyRequest(spec.name, given.arguments, spec.effect, {"employee": action.by})
    for name, rule in draft.rules.items():
        condition = rule.value.allow_when
        if condition is None or not all(_is_known(reads, bound) for reads in names_in(condition)):
            continue
        refusal = rule.value.refusal_of(request) if _is_condition(condition) else None
        if refusal is not None:
            what = f"The rule `{name}` never lets this pass: {refusal.why}; nobody would be offered the option."
            yield read.fault(path, what, "Change the arguments, or the rule.")


def _is_condition(text: str) -> bool:
    """Whether a rule's condition can be used; where not, the rule has a fault of its own."""
    try:
        compile_condition(text, VARIABLES)
    except ExpressionFault:
        return False
    return True


def _is_known(reads: tuple[str, ...], bound: Collection[str]) -> bool:
    """Whether what a condition reads of an action is written in the options themselves."""
    match reads:
        case ("arguments",):
            return not bound
        case ("arguments", name, *_):
            return name not in bound
        case ("facts", name, *_):
            return name == "employee"
    return reads in (("use",), ("effect",))
