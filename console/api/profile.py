"""What is known of whoever asks: theirs to see, to correct and to delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from console.api.asked import Acting
from console.api.desk import Asking, AtDesk, query_of
from console.api.model import ApiModel
from console.views_profile import PersonErasedView, ProfileView
from contracts import MemoryId, Name

routes = APIRouter(tags=["profile"])
Whose = Annotated[Name | None, Query(description="Whose; may be left out where the token belongs to one organisation.")]
As = Annotated[
    Name | None, Query(alias="as", description="The person that asks; only an administrator's token may name one.")
]


OfPerson = Annotated[Name, Path(description="Their id in org.yaml.", examples=["duty-planner"])]


class ReasonShown(ApiModel):
    """Why something is believed."""

    why: str
    """`said`, `asked`, `asked again`, `ignored`, `corrected`."""
    at: str
    """UTC."""
    conversation: str
    """In which."""
    turn: int
    """Which turn of it."""
    weight: float
    """What it counted then."""


class TraitShown(ApiModel):
    """One thing that is known of a person."""

    depth: str
    """`form`, `attention`, `thinking`."""
    trait: str = Field(examples=["format"])
    """What of them."""
    value: str = Field(examples=["table"])
    """How it is."""
    weight: float
    """By now; what was noticed fades."""
    by_person: bool
    """Whether they set it themselves: it does not fade, and beats what was noticed."""
    because: tuple[ReasonShown, ...] = ()
    """Newest first."""


class ProfileShown(ApiModel):
    """Everything that is known of a person."""

    person: str
    """Their id."""
    traits: tuple[TraitShown, ...]
    """By depth."""
    guidance: str
    """What employees are told of it."""

    @classmethod
    def of(cls, view: ProfileView) -> ProfileShown:
        """Return it as the API gives it."""
        traits = (
            TraitShown(
                depth=each.depth, trait=each.trait, value=each.value, weight=each.weight, by_person=each.by_person,
                because=tuple(
                    ReasonShown(why=r.why, at=r.at, conversation=r.conversation, turn=r.turn, weight=r.weight)
                    for r in each.because
                ),
            )
            for each in view.traits
        )  # fmt: skip
        return cls(person=view.person, traits=tuple(traits), guidance=view.guidance)


class NewTrait(Acting):
    """How it is, as the person says."""

    organisation: Name | None = None
    """Whose; may be left out where the token belongs to one organisation."""
    trait: str = Field(max_length=60, examples=["format"])
    """What of them."""
    value: str = Field(max_length=200, examples=["table"])
    """How it is; of a `term`: `TERM=known` or `TERM=to explain`."""


class Erasing(Acting):
    """Whose data is erased, and why."""

    organisation: Name | None = None
    """Whose; may be left out where the token belongs to one organisation."""
    reason: str = Field(default="", max_length=255)
    """Why; it is written down."""
    sure: bool = False
    """Else it is only told what would be erased."""


class PersonErasedShown(ApiModel):
    """What was erased of a person, or would be."""

    person: str
    """Their id."""
    done: bool
    """False where it was only looked."""
    memories: int
    """Memories."""
    conversations: int
    """Conversations."""
    turns: int
    """Events of those."""
    profile: int
    """Events of their profile."""
    files: int
    """Files below the home folder."""
    blobs: int
    """Blobs that nothing else named."""
    vectors: int
    """Vectors of their memories."""
    executions: int
    """That they asked for: those stay."""
    cards: int
    """That they decided: those stay."""
    named_in: tuple[MemoryId, ...]
    """Memories of the business and of employees that name them: those stay, and somebody decides."""

    @classmethod
    def of(cls, view: PersonErasedView) -> PersonErasedShown:
        """Return it as the API gives it."""
        return cls(
            person=view.person, done=view.done, memories=view.memories, conversations=view.conversations,
            turns=view.turns, profile=view.profile, files=view.files, blobs=view.blobs, vectors=view.vectors,
            executions=view.executions, cards=view.cards, named_in=tuple(view.named_in),
        )  # fmt: skip


@routes.get("/me/profile", dependencies=[query_of("organisation", "as")])
async def show_profile(desk: AtDesk, asking: Asking, *, organisation: Whose = None, as_: As = None) -> ProfileShown:
    """Show what is known of whoever asks, and why."""
    folder = await desk.home_of(organisation, asking)
    return ProfileShown.of(await desk.application.profile(folder, by=asking.acts_as(as_)))


@routes.put("/me/profile")
async def set_profile(body: NewTrait, desk: AtDesk, asking: Asking) -> ProfileShown:
    """Say how it is; that beats what was noticed, and does not fade."""
    folder = await desk.home_of(body.organisation, asking)
    by = asking.acts_as(body.as_)
    return ProfileShown.of(await desk.application.set_profile(folder, body.trait, body.value, by=by))


@routes.delete("/me/profile", dependencies=[query_of("organisation", "as", "trait", "value")])
async def forget_profile(
    desk: AtDesk,
    asking: Asking,
    *,
    organisation: Whose = None,
    trait: Annotated[str | None, Query(description="What is to be forgotten; else everything.")] = None,
    value: Annotated[str | None, Query(description="Which value of it.")] = None,
    as_: As = None,
) -> ProfileShown:
    """Erase what was noticed or set: one trait and value, or everything."""
    folder = await desk.home_of(organisation, asking)
    by = asking.acts_as(as_)
    return ProfileShown.of(await desk.application.forget_profile(folder, by=by, trait=trait, value=value))


@routes.post("/people/{person}/erasure")
async def erase_person(person: OfPerson, body: Erasing, desk: AtDesk, asking: Asking) -> PersonErasedShown:
    """Erase everything that is remembered of a person; without `sure` tell what that would be."""
    folder = await desk.home_of(body.organisation, asking)
    view = await desk.application.erase_person(
        folder, person, by=asking.acts_as(body.as_), reason=body.reason, sure=body.sure
    )  # fmt: skip
    return PersonErasedShown.of(view)
