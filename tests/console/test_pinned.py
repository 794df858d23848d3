"""Organisations that a process keeps ready: read once as long as their folder stays, closed when nobody uses them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import console.pinned as pinned_module
from console.pinned import KEPT, Organisations
from console.starter.make import make
from console.wiring import Wired
from runtime.canonical import sha256
from runtime.errors import NotFound, OrganisationFaulty
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    make(tmp_path / "bakery")
    return tmp_path / "bakery"


@pytest.fixture
def organisations(sqlite_store: SqlStore, tmp_path: Path, clock: HandClock) -> Organisations:
    return Organisations(sqlite_store, load({"home": str(tmp_path)}, working=tmp_path), clock)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How large what was read was, each time that an organisation was read from its bytes."""
    found: list[int] = []
    real = pinned_module.load_bundle

    def counted(data: bytes, *rest: object, **more: object) -> object:
        found.append(len(data))
        return real(data, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(pinned_module, "load_bundle", counted)
    return found


async def test_a_folder_is_read_once_however_many_ask_and_again_once_it_changed(
    organisations: Organisations, bakery: Path, read: list[int]
) -> None:
    both = await asyncio.gather(*(organisations.current(bakery) for _ in range(5)))
    assert len(read) == 1 and len({id(organisation) for organisation, _ in both}) == 1

    people = bakery / "org.yaml"
    people.write_text(people.read_text().replace("The bakery", "The new bakery"))
    organisation, _ = await organisations.current(bakery)

    assert len(read) == 2 and "The new bakery" in str(organisation.title)


async def test_what_an_execution_pinned_is_what_was_asked_for(
    organisations: Organisations, sqlite_store: SqlStore, bakery: Path, read: list[int]
) -> None:
    organisation, data = await organisations.current(bakery)
    await sqlite_store.blobs.put(data)

    wired = await asyncio.gather(*(organisations.pinned(sha256(data), bakery) for _ in range(5)))

    assert {id(each.organisation) for each in wired} == {id(organisation)} and len(read) == 1


async def test_a_folder_that_is_faulty_or_not_there_is_told_as_it_is(
    organisations: Organisations, bakery: Path, tmp_path: Path
) -> None:
    with pytest.raises(NotFound, match="There is no organisation folder"):
        await organisations.current(tmp_path / "nowhere")

    (bakery / "org.yaml").write_text("name: 1\nwhat: is this\n")
    with pytest.raises(OrganisationFaulty, match=r"org\.yaml:2"):
        await organisations.current(bakery)


async def test_versions_that_nobody_uses_are_closed_and_those_in_use_stay(
    organisations: Organisations, sqlite_store: SqlStore, bakery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    async def note(self: object) -> None:
        closed.append(str(self.organisation.title))  # type: ignore[attr-defined]

    monkeypatch.setattr(Wired, "close", note)
    original = (bakery / "org.yaml").read_text()

    async def version(number: int) -> bytes:
        (bakery / "org.yaml").write_text(original.replace("The bakery", f"Bakery {number}"))
        _, data = await organisations.current(bakery)
        await sqlite_store.blobs.put(data)
        return data

    async with organisations.using(sha256(await version(0)), bakery):
        for number in range(1, KEPT + 3):
            async with organisations.using(sha256(await version(number)), bakery):
                pass

    assert len(closed) == 3
    assert not any("Bakery 0'" in title for title in closed[:2])
