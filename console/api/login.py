"""Logging in and out, and who one is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from console.api.cookies import clear_cookie, set_cookie
from console.api.desk import Asking, AtDesk, Desk
from console.api.errors import LoginRefused, TooManyLogins
from console.api.shown_users import Login, Me, NewPassword
from console.api.via import Address, Via
from governance.access import Principal, RateLimiter
from runtime.errors import InvalidArguments
from runtime.settings.access import AccessSettings

routes = APIRouter(tags=["login"])
PATH = "/login"


class Tries:
    """How often a login may be tried, for an account and from an address."""

    def __init__(self, accounts: RateLimiter, addresses: RateLimiter) -> None:
        self._accounts = accounts
        self._addresses = addresses

    def take(self, account: str, address: str) -> None:
        """Count a try, whoever proves to be right; raise TooManyLogins when it is one too many."""
        wait_s = self._addresses.take(address) or self._accounts.take(account)
        if wait_s:
            raise TooManyLogins(
                "Too many logins were tried for this account or from this address. Wait as long as Retry-After says.",
                retry_after_s=wait_s,
            )


@routes.post(PATH, response_model=Me)
async def login(body: Login, request: Request, desk: AtDesk, address: Address, via: Via) -> Response:
    """Open a session for a person of an organisation; its cookie comes with the answer."""
    tries: Tries = request.app.state.tries
    tries.take(f"{body.organisation}/{body.person}", address)
    password = body.password.get_secret_value()
    made = await desk.application.sign_in(body.organisation, body.person, password, via=via)
    if made is None:
        raise LoginRefused("There is no such person with this password, or the account is locked.")
    principal, text = made
    settings = desk.settings.access
    response = JSONResponse(_me(desk, principal).model_dump(mode="json", by_alias=True))
    response.headers["Set-Cookie"] = set_cookie(text, within_s=settings.session_s, secure=settings.cookie_secure)
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.post("/logout", status_code=204)
async def logout(desk: AtDesk, asking: Asking) -> Response:
    """End the session that the request came with."""
    if not asking.id.startswith("session/"):
        raise InvalidArguments("Only a session can be left. A token is revoked: `silicon tokens revoke`.")
    await desk.application.sign_out(asking)
    return _left(desk.settings.access)


@routes.get("/me")
async def me(desk: AtDesk, asking: Asking) -> Me:
    """Say who asks, and what they may do where."""
    return _me(desk, asking)


@routes.post("/me/password", status_code=204)
async def change_password(
    body: NewPassword, request: Request, desk: AtDesk, asking: Asking, *, address: Address, via: Via
) -> Response:  # fmt: skip
    """Change the own password; every session of the person ends, this one too."""
    if asking.person is None or asking.home is None:
        raise InvalidArguments("Only a person has a password.")
    tries: Tries = request.app.state.tries
    tries.take(f"{asking.organisation}/{asking.person}", address)
    if not await desk.application.proves(asking, body.old.get_secret_value()):
        raise LoginRefused("The old password is another one.")
    new = body.new.get_secret_value()
    await desk.application.set_password(asking.home, asking.person, new, by=asking.person, via=via)
    return _left(desk.settings.access)


def tries_of(settings: AccessSettings, limiter: type[RateLimiter], clock: object) -> Tries:
    """Return what counts the logins of a server."""
    made = [
        limiter(clock, per_s=each / 60, burst=max(1, round(each)))  # type: ignore[arg-type]
        for each in (settings.logins_per_min, settings.logins_per_min_address)
    ]
    return Tries(*made)


def _me(desk: Desk, principal: Principal) -> Me:
    return Me.of(principal, desk.application.sight(principal).person)


def _left(settings: AccessSettings) -> Response:
    return Response(status_code=204, headers={"Set-Cookie": clear_cookie(secure=settings.cookie_secure)})
