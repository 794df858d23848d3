"""Progress and trees: what is folded from events, and how it looks at different widths and in Chinese."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from rich.cells import cell_len
from rich.console import Console

from console.cli.output import Output
from console.cli.render.branches import tree
from console.cli.render.live import Picture, line_of, order_branch, progress_shown, progress_so_far
from console.cli.render.show import order_branch as shown_branch
from console.progress import Progress
from console.texts import say_in
from console.views import StepState
from contracts import OrderState
from tests.fakes import console_application as fake
from tests.fakes.console_values import EXECUTION

NOW = fake.NOW + timedelta(seconds=20)


def folded(count: int = 99) -> Progress:
    progress = Progress()
    for event in fake.events()[:count]:
        progress.apply(event)
    return progress


def test_the_picture_is_whole_before_the_first_step_is_done() -> None:
    root = folded(2).root

    assert root is not None
    assert (root.employee, root.skill, root.state) == ("operations-head", "explain-cancellations", OrderState.RUNNING)
    assert [step.state for step in root.steps.values()] == [StepState.PENDING, StepState.PENDING]


def test_an_order_below_hangs_on_the_step_that_led_to_it() -> None:
    root = folded(4).root

    assert root is not None
    assert [order.employee for order in root.steps["measure"].orders] == ["analyst"]
    assert root.steps["measure"].state is StepState.RUNNING


def test_everything_waits_when_the_execution_waits() -> None:
    progress = folded()

    assert progress.root is not None
    assert progress.state is progress.root.state is OrderState.WAITING


def test_an_event_seen_before_changes_nothing() -> None:
    progress = folded()

    assert not any(progress.apply(event) for event in fake.events())


def test_an_erased_event_changes_nothing() -> None:
    event = fake.events()[1].model_copy(update={"data": None})

    assert not Progress().apply(event)


def test_a_one_step_order_stands_in_the_line_of_its_step() -> None:
    root = folded().root

    assert root is not None
    branch = order_branch(root, NOW, top=True)
    assert [(child.label, child.detail, child.state) for child in branch.children] == [
        ("measure", "analyst · flights.query", "done"),
        ("choose", "advise", "waiting"),
    ]


def test_the_live_tree_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), record=True, width=80, force_terminal=True, color_system=None)

    console.print(Picture(folded(), say_in("en"), lambda: NOW))

    assert [line.rstrip() for line in console.export_text().splitlines()][1:] == [
        "├─ ✓ measure  analyst · flights.query     done                    0.3\N{NO-BREAK SPACE}s",
        "└─ ◆ choose  advise                       waiting for a decision",
    ]


def test_plain_lines_say_what_ended() -> None:
    progress, say, lines = Progress(), say_in("zh"), []
    for event in fake.events():
        progress.apply(event)
        if (line := line_of(progress, event, say)) is not None:
            lines.append(line.plain)

    assert lines[-2:] == [
        "✓ operations-head/measure  完成  0.3\N{NO-BREAK SPACE}s",
        "◆ operations-head/choose  等你决定",
    ]


def test_each_answer_of_a_model_is_a_sign_of_life_of_its_step() -> None:
    progress = folded(2)
    event = fake.events()[1].model_copy(
        update={"position": 99, "type": "model.answered", "data": {"step": "choose", "index": None, "answer": 2}}
    )

    assert progress.apply(event)
    assert progress.root is not None and progress.root.steps["choose"].state is StepState.RUNNING
    line = line_of(progress, event, say_in("en"))
    assert line is not None and line.plain == "● operations-head/choose  answer 2 of the model"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_line_of_a_tree_is_wider_than_the_terminal_and_columns_stand_in_line(width: int, language: str) -> None:
    say = say_in(language)
    root = fake.tree().root
    assert root is not None

    lines = tree([shown_branch(root, say, width)], say, width)

    assert max(line.cell_len for line in lines) <= width
    done = f"  {say('state-done')}"
    columns = {cell_len(line.plain[: line.plain.rindex(done)]) for line in lines if done in line.plain}
    assert len(columns) == 1


def test_the_tree_of_show_at_eighty_cells() -> None:
    say, root = say_in("en"), fake.tree().root
    assert root is not None

    lines = [line.plain.replace("\N{NO-BREAK SPACE}", " ") for line in tree([shown_branch(root, say, 80)], say, 80)]

    assert lines == [
        "◆ Operations head  operations-head · explain-can…  waiting for a decision  4.2 s",
        "│  order/01JB0000000000000000000RDR",
        "├─ ✓ measure                                       done                    0.3 s",
        "│  │  rows 2 items · rate 0.5075",
        "│  └─ ✓ Flight analyst  analyst                    done                    0.3 s",
        "│     │  order/01JB0000000000000000000CHD",
        "│     │  slot slot/1 rlimits",
        "│     │  evidence sealed a3f1a3f1a3f1",
        "│     └─ ✓ do  flights.query                       done                    0.2 s",
        "│           rows 2 items · rate 0.5075",
        "│           result a3f1a3f1a3f1 · query a3f1a3f1a3f1 · data a3f1a3f1a3f1",
        "│           1 piece of evidence · 2 attempts",
        "├─ ✗ weather  weather.query                        failed                  1.5 s",
        "│     NETWORK_FAULT: The service does not answer.",
        "├─ – notify                                        skipped",
        "│     choose.outcome == 'approved' is false",
        "└─ ◆ choose  advise                                waiting for a decision",
        "      waits for card/01JB0000000000000000000CRD",
    ]


@pytest.mark.anyio
async def test_what_goes_on_has_its_place_among_what_stood_already(capsys: pytest.CaptureFixture[str]) -> None:
    told = fake.events()
    application = fake.FakeApplication()
    output = Output(say_in("en"), "en", as_json=False)

    so_far = await progress_so_far(application, EXECUTION)
    async with progress_shown(application, output, lambda event: None, so_far) as watch:
        for event in told:
            watch(event)
        again = next(event for event in told if event.type == "step.waiting")
        watch(again.model_copy(update={"position": told[-1].position + 1}))

    assert capsys.readouterr().err.splitlines() == ["◆ operations-head/choose  waiting for a decision"]
