"""Fills a report template: Jinja2 in its sandbox, over traced values only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.employee.report.filters import filters, tests
from agents.employee.report.sources import Page
from agents.employee.report.traced import Printer, Traced, TracedList, TracedMap, plain
from runtime.errors import InvalidArguments

if TYPE_CHECKING:
    from jinja2 import nodes
    from jinja2.sandbox import SandboxedEnvironment

_GLOBALS = ("dict", "namespace", "range")
_BY_NAME = {
    "map": ("filter", 0), "select": ("test", 0), "reject": ("test", 0), "selectattr": ("test", 1),
    "rejectattr": ("test", 1),
}  # fmt: skip
"""Filters that take the name of a filter or test as an argument, and where it stands."""
_MAP_METHODS = ("get", "items", "keys", "values")


def fill(
    source: str, name: str, values: Mapping[str, Any], printer: Printer, helpers: Mapping[str, Callable[..., Any]]
) -> str:
    """Return the filled template.

    Raises:
        InvalidArguments: the template is faulty or asks for something that is not there; names file and line.
    """
    from jinja2 import TemplateError, TemplateSyntaxError

    environment = _environment(printer)
    environment.globals.update(helpers)
    try:
        return environment.from_string(_named(source)).render(values)
    except TemplateSyntaxError as error:
        raise _fault(name, error.lineno, error.message or "it is not a template", error) from error
    except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _fault(name, _line_of(error), str(error), error, sorted(values)) from error
    except RecursionError as error:
        raise _fault(name, None, "it calls itself too often, or what it prints is nested too deeply", error) from None
    except MemoryError as error:
        raise _fault(name, None, "it makes more text than there is memory for", error) from None


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """One thing for which a template can never be filled."""

    line: int
    what: str
    name: str = ""
    """The name that is not given, where that is the fault."""


def template_faults(source: str, given: Collection[str]) -> Iterator[TemplateFault]:
    """Yield what is wrong with a template before any value is known, as `fill` would find it in its turn.

    Args:
        given: the names that the template may use, its helpers among them.
    """
    from jinja2 import TemplateSyntaxError, nodes

    environment = _environment(Page(_key_alone))
    try:
        tree = environment.parse(_named(source))
        every = list(tree.find_all(nodes.Node))
        unknown = [*_unknown_functions(every, environment), *_other_templates(every)]
        yield from unknown
        if not unknown:
            there = {*given, *_GLOBALS} | _asked_for(every) | _set_in(every)
            for name in sorted(_looked_up(tree, environment) - there):
                yield TemplateFault(_first_use(every, name), f"`{name}` is not given.", name)
    except TemplateSyntaxError as error:
        yield TemplateFault(error.lineno, f"This is no template: {(error.message or 'it ends too early').rstrip('.')}.")
    except SyntaxError as error:  # of the Python it is turned into, whose lines are others
        yield TemplateFault(1, f"This is no template: {error.msg}.")
    except RecursionError:
        yield TemplateFault(1, "This is no template: it is nested too deeply.")


def _key_alone(key: str, /, **_facts: object) -> str:
    return key


def _looked_up(tree: nodes.Template, environment: SandboxedEnvironment) -> set[str]:
    """Return the names that the template looks up when it is filled, having turned it into Python, which may raise.

    `jinja2.meta.find_undeclared_variables` finds the same, but turns the template into Python once more for it.
    """
    from jinja2.compiler import CodeGenerator, Frame

    found: set[str] = set()

    class NotingGenerator(CodeGenerator):
        def enter_frame(self, frame: Frame) -> None:
            super().enter_frame(frame)
            looked_up = {str(name) for action, name in frame.symbols.loads.values() if action == "resolve"}
            found.update(looked_up - self.environment.globals.keys())

    environment.code_generator_class = NotingGenerator
    environment.compile(tree)
    return found


def _unknown_functions(every: Sequence[nodes.Node], environment: SandboxedEnvironment) -> Iterator[TemplateFault]:
    from jinja2 import nodes

    there = {"filter": environment.filters, "test": environment.tests}
    for used in every:
        if not isinstance(used, nodes.Filter | nodes.Test):
            continue
        named = [("filter" if isinstance(used, nodes.Filter) else "test", used.name)]
        if used.name in _BY_NAME:
            kind, place = _BY_NAME[used.name]
            named += [(kind, each.value) for each in used.args[place : place + 1] if isinstance(each, nodes.Const)]
        for kind, name in named:
            if name not in there[kind]:
                what = f"There is no {kind} `{name}`; templates have {_listed(there[kind])}."
                yield TemplateFault(used.lineno, what)


def _listed(known: Collection[str]) -> str:
    return ", ".join(sorted(name for name in known if name.isidentifier()))


def _other_templates(every: Sequence[nodes.Node]) -> Iterator[TemplateFault]:
    from jinja2 import nodes

    for used in every:
        if isinstance(used, nodes.Include | nodes.Import | nodes.FromImport | nodes.Extends):
            yield TemplateFault(used.lineno, "A report template is one file and cannot use another one.")


def _asked_for(every: Sequence[nodes.Node]) -> set[str]:
    """Return the names of which the template itself asks whether they are there."""
    from jinja2 import nodes

    asking = {"defined", "undefined", "default", "d"}
    used = [node for node in every if isinstance(node, nodes.Filter | nodes.Test) and node.name in asking]
    return {node.node.name for node in used if isinstance(node.node, nodes.Name)}


def _set_in(every: Sequence[nodes.Node]) -> set[str]:
    """Return the names that the template sets itself; whether it does on every way to their use is not followed."""
    from jinja2 import nodes

    assigned = [node for node in every if isinstance(node, nodes.Assign | nodes.AssignBlock)]
    return {name.name for node in assigned for name in node.find_all(nodes.Name) if name.ctx == "store"}


def _first_use(every: Sequence[nodes.Node], name: str) -> int:
    from jinja2 import nodes

    uses = [used.lineno for used in every if isinstance(used, nodes.Name) and used.name == name and used.ctx == "load"]
    return min(uses, default=1)


def _named(source: str) -> str:
    return source.replace("\ue000", "\ufffd").replace("\ue001", "\ufffd")


def _environment(printer: Printer) -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    class ReportEnvironment(SandboxedEnvironment):
        """Looks names up in the data first, and opens no Python attribute of it."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, TracedMap):
                if attribute in obj.fields:
                    return obj.fields[attribute]
                if attribute in _MAP_METHODS:
                    return getattr(obj, attribute)
            if isinstance(obj, Traced | TracedMap | TracedList | str):
                return self.undefined(_not_there(obj, attribute), obj=obj, name=attribute)
            return super().getattr(obj, attribute)

        def getitem(self, obj: Any, argument: Any) -> Any:
            if isinstance(obj, TracedMap | TracedList):
                try:
                    return obj[argument]
                except (LookupError, TypeError):
                    return self.undefined(_not_there(obj, plain(argument)), obj=obj, name=str(plain(argument)))
            if isinstance(obj, Traced | str):
                return self.undefined(_not_there(obj, plain(argument)), obj=obj, name=str(plain(argument)))
            return super().getitem(obj, argument)

    environment = ReportEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
    )  # fmt: skip
    environment.filters = dict[str, Any](filters(environment.filters, printer))
    environment.tests = dict[str, Any](tests(environment.tests))
    environment.globals = {name: environment.globals[name] for name in _GLOBALS}
    return environment


def _not_there(obj: Any, key: Any) -> str:
    if isinstance(obj, TracedMap):
        return f"there is no `{key}` in it; there is {', '.join(obj) or 'nothing'}"
    if isinstance(obj, TracedList):
        return f"there is no `{key}` in an array of {len(obj)} items"
    return f"a single value has no `{key}`"


def _line_of(error: BaseException) -> int | None:
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _fault(
    name: str, line: int | None, why: str, error: Exception, there: list[str] | None = None
) -> InvalidArguments:  # fmt: skip
    where = name if line is None else f"{name}, line {line}"
    has = f" The template is given {', '.join(there)}." if there and type(error).__name__ == "UndefinedError" else ""
    return InvalidArguments(
        f"The report template {where} cannot be filled: {why.rstrip('.')}.{has}", template=name, line=line
    )
