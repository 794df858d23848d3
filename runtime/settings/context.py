"""What models see, and in which form. Sizes are in characters, times in seconds, unless a name says otherwise."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from runtime.settings.group import LONGEST_S, Group


class ContextSettings(Group):
    """What a model sees, and in which form."""

    store_chars: int = Field(default=8_000, ge=100)
    """A tool's result whose JSON is longer than this is stored; the conversation holds what stands for it."""
    store_items: int = Field(default=10, ge=1)
    """So is one that is an array of more items, or has one in a field."""
    preview_chars: int = Field(default=12_000, ge=0)
    """What the record of a stored result keeps of its beginning, for audit; it never enters a prompt."""
    digest_chars: int = Field(default=1_000, ge=200, le=100_000)
    """Longest structural digest of a value."""
    inspect_chars: int = Field(default=4_000, ge=500, le=100_000)
    """Longest answer of a tool that looks into stored data."""
    views_share: float = Field(default=0.25, gt=0, le=1)
    """Characters that all such answers to one answer of a model have together, as a share of its window in tokens."""
    whole_chars: int = Field(default=10_000, ge=100)
    """`get_stored_data` gives a value whole up to this length, and what is longer condensed."""
    prefetch_chars: int = Field(default=4_096, ge=0)
    """An input of a step is shown whole up to this length, and what is longer by its digest."""
    bus_chars: int = Field(default=4_096, ge=0)
    """Room for the inputs of a step and the index of stored data together."""
    index_chars: int = Field(default=1_024, ge=0)
    """Room of the index in that, so that prompts do not grow with it: `search` reaches what it does not list."""
    listed_chars: int = Field(default=200, ge=50)
    """What the index says of one stored result."""
    listed_most: int = Field(default=50, ge=0)
    """Stored results that are looked at for the index: those the step depends on, then the newest."""
    datum_chars: int = Field(default=200, ge=20)
    """From so many characters on a value stands in a prompt once, and is cut out of what the model repeats of it."""
    messages_least: int = Field(default=6, ge=2)
    """Messages of a conversation that stay, however long the run is."""
    insights_most: int = Field(default=40, ge=0)
    """Insights of the working memory that are shown at most."""
    insight_chars: int = Field(default=500, ge=20)
    """Characters of one insight at most."""
    insight_chars_most: int = Field(default=8_000, ge=0)
    """Characters of all insights that are shown at most."""
    long_description_chars: int = Field(default=400, ge=0)
    """A step with a longer description is more complex."""
    many_tools: int = Field(default=5, ge=0)
    """A step with more tools is more complex."""
    plan_chars: int = Field(default=2_000, ge=100)
    """Characters in which a step's model is told the plan it is part of."""
    board_chars: int = Field(default=1_000, ge=0)
    """Characters of the blackboard that a step's model is told."""
    policy_chars: int = Field(default=2_000, ge=0)
    """Characters of policies that a step's model is told; the gate holds all of them."""
    condensed_chars: int = Field(default=2_000, ge=100)
    """What a model condenses a longer one to, at most."""
    condense_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """Seconds that it may take for it, all its requests together."""
    condense_temperature: float = Field(default=0.3, ge=0, le=2)
    """How freely it words it."""
    condense_piece_chars: int = Field(default=100_000, ge=1_000)
    """Characters that one request to it holds; what is longer is condensed in pieces."""
    condense_pieces: int = Field(default=8, ge=1)
    """Pieces at most; of what is longer still, the beginning is shown."""
    fallback_chars: int = Field(default=3_000, ge=0)
    """Beginning that stands for a value of which no model made anything."""
    light_share: float = Field(default=0.75, gt=0, le=1)
    """From this share of the model's window on, long documents become references, weak memories go, and old turns
    become a few words."""
    warn_share: float = Field(default=0.80, gt=0, le=1, validate_default=True)
    """From this share on there is a warning; not less than `light_share`."""
    compact_share: float = Field(default=0.85, gt=0, le=1, validate_default=True)
    """From this share on a hand-over document takes the place of all but the newest messages; not less than
    `warn_share`."""
    full_share: float = Field(default=0.95, gt=0, le=1, validate_default=True)
    """From this share on it is tried whatever failed before, and if nothing helps the step fails; not less than
    `compact_share`."""
    compact_to: float = Field(default=0.30, gt=0, le=1)
    """Share of the window that a compaction makes of it."""
    gain_share: float = Field(default=0.10, gt=0, lt=1)
    """A compaction that saves a smaller share of the prompt's tokens changes nothing."""
    rest_messages: int = Field(default=4, ge=1)
    """Messages after which a compaction that failed or gained too little is tried again; each time twice as many."""
    rest_messages_most: int = Field(default=64, ge=1)
    """So many at most."""
    messages_go: int = Field(default=2, ge=1)
    """Messages that go at least where any does."""
    message_tokens: int = Field(default=4, ge=0)
    """Tokens that a message takes beside its words."""
    light_turns: int = Field(default=10, ge=1)
    """Newest answers of a model that stay as they are until `compact_share`."""
    turn_chars: int = Field(default=200, ge=20)
    """Words of a model for each `light_turns` older ones, at most."""
    phase_chars: int = Field(default=1_000, ge=20)
    """Words of a model for a phase of a hand-over document, at most."""
    phase_share: float = Field(default=0.30, gt=0, le=1)
    """Share of its messages' characters that a phase keeps at least of what cannot be read again by a reference."""
    gave_chars: int = Field(default=500, ge=20)
    """What a hand-over document tells of a result that can be."""
    told_chars: int = Field(default=1_000, ge=20)
    """What it tells word by word of one message of a person."""
    entities_most: int = Field(default=40, ge=0)
    """Entities of each kind that it names."""
    document_chars: int = Field(default=2_000, ge=200)
    """A datum that is longer becomes a reference when the window fills, where it can be read again."""
    relevance_least: float = Field(default=0.3, ge=0, le=1)
    """A memory that has less to do with the task goes when the window fills."""

    @field_validator("warn_share", "compact_share", "full_share")
    @classmethod
    def _after_the_one_before(cls, share: float, info: ValidationInfo) -> float:
        """Refuse a defence that would be due before the gentler one."""
        before = {"warn_share": "light_share", "compact_share": "warn_share", "full_share": "compact_share"}
        gentler = before[str(info.field_name)]
        least = info.data.get(gentler)
        if least is not None and share < least:
            raise ValueError(f"it is {share:g}, and {gentler} is {least:g}; it has to be at least as much")
        return share
