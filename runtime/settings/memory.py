"""What is remembered, how long it counts, and how much of it reaches a prompt."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.group import LONGEST_DAYS, LONGEST_S, Group


class MemorySettings(Group):
    """Memories: writing, fading, recall, consolidation."""

    keep_score: int = Field(default=3, ge=-100, le=100)
    """What is said is kept from so many points on."""
    fact_points: int = Field(default=3, ge=-100, le=100)
    """Points of a preference or fact."""
    remember_points: int = Field(default=5, ge=-100, le=100)
    """Points of an explicit wish to remember it."""
    decision_points: int = Field(default=2, ge=-100, le=100)
    """Points of a decision."""
    repeated_points: int = Field(default=2, ge=-100, le=100)
    """Points of what was said before."""
    small_talk_points: int = Field(default=-3, ge=-100, le=100)
    """Points of small talk."""
    decay_a_day: float = Field(default=0.9, gt=0, le=1)
    """What is left of a memory's importance after a day, where its class says nothing else."""
    preference_half_life_days: float = Field(default=90.0, gt=0, le=LONGEST_DAYS)
    """Days after which half of a preference's importance is left."""
    task_half_life_days: float = Field(default=7.0, gt=0, le=LONGEST_DAYS)
    """Days after which half of a task record's importance is left."""
    fact_trust_half_life_days: float = Field(default=365.0, gt=0, le=LONGEST_DAYS)
    """Days since a fact was last said after which its confidence counts half against one that contradicts it."""
    attention_half_life_days: float = Field(default=30.0, gt=0, le=LONGEST_DAYS)
    """Days after which half is left of what was noticed of a person."""
    attention_gain: float = Field(default=0.25, ge=0, le=1)
    """How much what a person looks at may change the score of a memory in their searches, up and down."""
    read_factor: float = Field(default=1.05, ge=1, le=10)
    """What a read through a search does to a memory's importance; it never exceeds 1."""
    cited_gain: float = Field(default=0.2, ge=0, le=1)
    """Part of what is missing to certainty that a memory gains when it is said or cited again."""
    inject_from: float = Field(default=0.2, ge=0, le=1)
    """A memory of less importance by now is not put into a prompt."""
    archive_below: float = Field(default=0.05, ge=0, le=1)
    """A memory of less importance by now is on its way to the archive."""
    archive_cycles: int = Field(default=3, ge=1, le=1_000)
    """Daily cycles in a row that find it so, after which it is archived."""
    recalled: int = Field(default=20, ge=1, le=1_000)
    """Candidates that are found by words and meaning before they are ranked."""
    shown: int = Field(default=5, ge=1, le=100)
    """Memories that a search gives at most."""
    shown_tokens: int = Field(default=2_000, ge=50, le=100_000)
    """Tokens that they have together at most."""
    relevance_least: float = Field(default=0.2, ge=0, le=1)
    """Share of the best score that a memory needs, so that a search gives it."""
    decay_floor: float = Field(default=0.7, ge=0, le=1)
    """What a wholly faded memory keeps of its score in a search; the rest goes by how much it has faded."""
    auto_chars: int = Field(default=8_000, ge=500, le=100_000)
    """Longest AUTO-MEMORY.md."""
    summary_tokens: int = Field(default=2_048, ge=100, le=100_000)
    """Tokens that a model may write in one request of a consolidation."""
    summary_temperature: float = Field(default=0.3, ge=0, le=2)
    """How freely it writes there."""
    project_turns: int = Field(default=10, ge=1, le=10_000)
    """Turns of a conversation after which what it tells about its project is looked for."""
    consolidated_at_once: int = Field(default=40, ge=1, le=500)
    """Memories that a model reads in one request of a consolidation."""
    lease_s: float = Field(default=60.0, gt=0, le=LONGEST_S)
    """How long a consolidation may be silent before another process takes it over."""
    index_when_chars: int = Field(default=60, ge=10, le=1_000)
    """Characters in which an entry of knowledge says when to open it, at most."""
    index_line_chars: int = Field(default=110, ge=20, le=2_000)
    """Characters that entries of an index may have on average."""
    verify_days: int = Field(default=90, ge=1, le=LONGEST_DAYS)
    """Days after which knowledge that nobody verified is listed."""
    read_indexes: int = Field(default=2, ge=1, le=100)
    """Indexes of knowledge that an order may read."""
    read_bodies: int = Field(default=3, ge=1, le=100)
    """Bodies that it may read; one more needs a reason, which is recorded."""
    resume_titles: int = Field(default=3, ge=1, le=100)
    """Titles of the log that an order is given that goes on after an interruption."""
    resume_bodies: int = Field(default=1, ge=1, le=100)
    """Bodies of the log that it may read then."""
    strategies_found: int = Field(default=3, ge=0, le=50)
    """Strategies that are told because they fit a task, beside those that always count."""
    chains_found: int = Field(default=2, ge=0, le=50)
    """Action chains that are told because they fit a task."""
    behaviour_chars: int = Field(default=2_000, ge=0, le=100_000)
    """Characters of strategies, and as many of action chains, in a prompt."""
