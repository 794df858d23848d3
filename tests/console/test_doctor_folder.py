"""`silicon doctor` of a faulty folder tells each fault as check does, and still looks at everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from console.application import SiliconApplication
from console.resources import Resources
from console.starter.make import make
from console.views import Fault
from console.views_system import Examined, Health
from runtime.settings.load import load
from tests.console.conftest import Silicon

pytestmark = pytest.mark.anyio
SERVER = "\ndesk:\n  kind: mcp\n  command: silicon-no-such-program\n"


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[SiliconApplication]:
    make(tmp_path / "bakery")
    resources = Resources(load({"home": tmp_path / "home"}))
    yield SiliconApplication(resources)
    await resources.close()


async def doctored(application: SiliconApplication, folder: Path) -> dict[str, Examined]:
    return {each.name: each for each in await application.doctor(folder)}


def spoil(folder: Path, file: str, more: str) -> None:
    with (folder / file).open("a", encoding="utf-8") as at:
        at.write(more)


async def test_every_fault_stands_by_itself_with_its_place(application: SiliconApplication, tmp_path: Path) -> None:
    folder = tmp_path / "bakery"
    spoil(folder, "org.yaml", "bad: 1\n")
    (folder / "skills/review-week/plan.yaml").write_text("steps: 3\n")

    found = (await doctored(application, folder))["organisation"]

    assert found.health is Health.BROKEN
    assert found.what == f"bakery has {len(found.faults)} faults; nothing of it runs"
    assert found.faults == (await application.check(folder)).faults


async def test_what_can_be_looked_at_is_looked_at(application: SiliconApplication, tmp_path: Path) -> None:
    folder = tmp_path / "bakery"
    spoil(folder, "connections.yaml", SERVER)
    (folder / "skills/review-week/plan.yaml").write_text("steps: 3\n")

    found = await doctored(application, folder)

    assert found["organisation"].faults
    assert found["sales"].health is Health.GOOD
    assert found["desk"].health is Health.BROKEN and "silicon-no-such-program" in found["desk"].what


async def test_a_server_that_is_declared_wrongly_is_not_started(
    application: SiliconApplication, tmp_path: Path
) -> None:
    folder = tmp_path / "bakery"
    spoil(folder, "connections.yaml", SERVER + "other: {kind: nonsense}\n")

    found = await doctored(application, folder)

    assert "desk" not in found and found["sales"].health is Health.GOOD


async def test_a_folder_without_an_organisation_is_told_as_that(
    application: SiliconApplication, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    found = (await doctored(application, tmp_path / "empty"))["organisation"]
    assert [fault.file for fault in found.faults] == ["org.yaml"]
    assert found.faults[0].line is None


def test_the_command_shows_a_fault_a_line_with_how_to_mend_it(tmp_path: Path, silicon: Silicon) -> None:

    faults = tuple(
        Fault("org.yaml", number, f"There is no field x{number}.", "There is: name.") for number in range(25)
    )

    async def doctor(_: object) -> list[Examined]:
        return [Examined("organisation", Health.BROKEN, "bakery has 25 faults", faults=faults)]

    silicon.application.doctor = doctor  # type: ignore[method-assign]
    lines = silicon("doctor", "bakery").out.splitlines()

    assert silicon.code == 1
    assert "  org.yaml:7  There is no field x7." in lines
    assert "  … and 5 more; silicon check shows all." in lines
    assert "⏎" not in silicon.out
