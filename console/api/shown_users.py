"""People and their accounts, as the HTTP API takes and gives them."""

from __future__ import annotations

from pydantic import AwareDatetime, Field, SecretStr

from console.api.model import ApiModel
from console.ports_users import User
from contracts import Name
from governance.access import Person, Principal, Role


class Login(ApiModel):
    """Who logs in."""

    organisation: Name = Field(examples=["three-airports"])
    """Whose person it is."""
    person: Name = Field(examples=["duty-manager"])
    """Their id in org.yaml."""
    password: SecretStr = Field(max_length=4_096)
    """It is in no answer, log or event."""


class NewPassword(ApiModel):
    """A person's own new password; the old one proves that it is them."""

    old: SecretStr = Field(max_length=4_096)
    """The one that holds so far."""
    new: SecretStr = Field(max_length=4_096)
    """The one that holds from now on; every session of the person ends."""


class GivenPassword(ApiModel):
    """A password that an administrator gives a person."""

    password: SecretStr = Field(max_length=4_096)
    """It holds from now on; every session of the person ends."""


class Locking(ApiModel):
    """Why an account is locked."""

    reason: str = Field(min_length=1, max_length=400)
    """In words, for the record."""


class Me(ApiModel):
    """Who asks."""

    organisation: Name | None = None
    """The only organisation it sees; absent for an administrator's token."""
    person: Name | None = None
    """The person it acts as; absent for an administrator's token, which acts as anybody."""
    name: str
    """Their name for people, or what the token is called."""
    by: str = Field(examples=["session"])
    """How it is proven: `session`, `token` of a person, `admin` token, or `bridge`."""
    roles: tuple[Role, ...] = ()
    """Roles that hold everywhere."""
    departments: dict[Name, tuple[Role, ...]] = Field(default_factory=dict)
    """Roles that hold in a department: an employee with everybody below."""

    @classmethod
    def of(cls, principal: Principal, person: Person | None) -> Me:
        """Return what is shown of whoever asks."""
        by = "session" if principal.id.startswith("session/") else "token"
        if principal.is_admin or principal.bridge is not None:
            return cls(name=principal.name, by="admin" if principal.is_admin else "bridge")
        assert person is not None, "a principal that counts has a person"
        return cls(
            organisation=principal.organisation,
            person=person.id,
            name=person.name,
            by=by,
            roles=_sorted(person.roles),
            departments=_departments(person),
        )


class UserShown(ApiModel):
    """A person, and how their account stands."""

    person: Name
    """Their id in org.yaml."""
    name: str
    """Their name for people."""
    roles: tuple[Role, ...] = ()
    """Roles that hold everywhere."""
    departments: dict[Name, tuple[Role, ...]] = Field(default_factory=dict)
    """Roles that hold in a department."""
    groups: tuple[Name, ...] = ()
    """Groups that cards may be addressed to."""
    password_since: AwareDatetime | None = None
    """When the password was given; absent while there is none."""
    locked_at: AwareDatetime | None = None
    """Since when nothing of the account counts; absent while it is open."""
    locked_by: str = ""
    """Who locked it."""
    reason: str = ""
    """Why."""
    signed_in_at: AwareDatetime | None = None
    """The last login."""
    signed_in_via: str = ""
    """From where."""
    tokens: int = 0
    """Tokens of theirs that count."""

    @classmethod
    def of(cls, user: User) -> UserShown:
        """Return what is shown of a person."""
        account = user.account
        return cls(
            person=user.person.id,
            name=user.person.name,
            groups=tuple(sorted(user.person.groups)),
            password_since=account.password_since,
            locked_at=account.locked_at,
            locked_by=account.locked_by,
            reason=account.reason,
            signed_in_at=account.signed_in_at,
            signed_in_via=account.signed_in_via,
            tokens=user.tokens,
            roles=_sorted(user.person.roles),
            departments=_departments(user.person),
        )


class UserList(ApiModel):
    """Everybody in an organisation."""

    users: tuple[UserShown, ...]
    """In the order of org.yaml."""


def _departments(person: Person) -> dict[Name, tuple[Role, ...]]:
    return {scope.department: _sorted(scope.roles) for scope in person.scopes}


def _sorted(roles: frozenset[Role]) -> tuple[Role, ...]:
    return tuple(role for role in Role if role in roles)
