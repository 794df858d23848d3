"""The accounts of people, for administrators of their organisation."""

from __future__ import annotations

from pathlib import Path as FolderPath
from typing import Annotated

from fastapi import APIRouter, Path, Query

from console.api.desk import Asking, AtDesk, Desk, query_of
from console.api.shown_users import GivenPassword, Locking, UserList, UserShown
from console.api.via import Via
from contracts import Name
from governance.access import Principal, Role
from runtime.errors import PermissionRefused

routes = APIRouter(prefix="/users", tags=["users"])
Of = Annotated[Name | None, Query(description="The organisation; may be left out where the token belongs to one.")]
Who = Annotated[
    Name, Path(alias="person", description="The person, by their id in org.yaml.", examples=["duty-manager"])
]


@routes.get("", dependencies=[query_of("organisation")])
async def list_users(desk: AtDesk, asking: Asking, organisation: Of = None) -> UserList:
    """List everybody in the organisation, with roles and how their accounts stand. It takes an administrator."""
    home = await _home(desk, asking, organisation)
    return UserList(users=tuple(map(UserShown.of, await desk.application.users(home))))


@routes.get("/{person}", dependencies=[query_of("organisation")])
async def show_user(person: Who, desk: AtDesk, asking: Asking, organisation: Of = None) -> UserShown:
    """Show one person. It takes an administrator."""
    return UserShown.of(await desk.application.user(await _home(desk, asking, organisation), person))


@routes.post("/{person}/password", dependencies=[query_of("organisation")])
async def give_password(
    person: Who, body: GivenPassword, desk: AtDesk, asking: Asking, via: Via, *, organisation: Of = None
) -> UserShown:  # fmt: skip
    """Give a person a password; their sessions end. It takes an administrator."""
    home, by = await _home(desk, asking, organisation), asking.person or asking.name
    password = body.password.get_secret_value()
    return UserShown.of(await desk.application.set_password(home, person, password, by=by, via=via))


@routes.post("/{person}/lock", dependencies=[query_of("organisation")])
async def lock(
    person: Who, body: Locking, desk: AtDesk, asking: Asking, via: Via, *, organisation: Of = None
) -> UserShown:  # fmt: skip
    """Let no password, session or token of a person count until they are unlocked. It takes an administrator."""
    home, by = await _home(desk, asking, organisation), asking.person or asking.name
    return UserShown.of(await desk.application.lock_user(home, person, reason=body.reason, by=by, via=via))


@routes.post("/{person}/unlock", dependencies=[query_of("organisation")])
async def unlock(person: Who, desk: AtDesk, asking: Asking, via: Via, organisation: Of = None) -> UserShown:
    """Let the account of a person count again. It takes an administrator."""
    home, by = await _home(desk, asking, organisation), asking.person or asking.name
    return UserShown.of(await desk.application.unlock_user(home, person, by=by, via=via))


async def _home(desk: Desk, asking: Principal, organisation: Name | None) -> FolderPath:
    """Return the folder whose people are meant, for somebody who may see to them."""
    home = await desk.home_of(organisation, asking)
    sight = desk.application.sight(asking)
    if sight.people is None or sight.person is None:
        return home
    if Role.ADMIN not in sight.people.roles_at(sight.person, None):
        raise PermissionRefused(
            f"{sight.person.name} may not see to accounts. That takes the role admin, held everywhere.",
            person=sight.person.id,
        )
    return home if asking.home is None else asking.home
