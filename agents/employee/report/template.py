"""Fills a report template: Jinja2 in its sandbox, over traced values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agents.employee.report.filters import filters, tests
from agents.employee.report.traced import Printer, Traced, TracedList, TracedMap, plain
from runtime.errors import InvalidArguments

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

_GLOBALS = ("dict", "namespace", "range")
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
