"""Models, and which skills they are shown. Times are in seconds, unless a name says otherwise."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.group import LONGEST_S, Group


class SkillSettings(Group):
    """Which of an employee's skills a model is shown."""

    core_most: int = Field(default=10, ge=1)
    """Skills of one employee that may be `core`, and so always shown."""
    all_up_to: int = Field(default=10, ge=0)
    """With so many core and extended skills or fewer, all of them are shown."""
    extended_shown: int = Field(default=5, ge=1)
    """Extended skills that are shown for a goal, those that fit best."""


class ModelSettings(Group):
    """The model of each role; without one, everything declared still runs."""

    reason: str = ""
    """Model that reasons in `react` steps and plans, for example the name your endpoint lists."""
    summarise: str = ""
    """Model that condenses; empty means the one that reasons."""
    embed: str = ""
    """Model that gives embeddings; empty means the one of the extra `embeddings` where it is installed, else none."""
    embed_batch: int = Field(default=32, ge=1, le=2_048)
    """Texts of one request for embeddings at most; an endpoint that refuses so many is asked with half."""
    embed_s: float = Field(default=10.0, gt=0, le=LONGEST_S)
    """Seconds after which the vector of what is looked for is given up, and words find it; those of texts that can be
    found may take `stalled_s` each request."""
    embed_rest_s: float = Field(default=60.0, ge=0, le=LONGEST_S)
    """Seconds for which an endpoint that gave no embeddings is not asked for any."""
    embed_query_prefix: str = ""
    """Put before what is looked for, where the model was trained so: `query: ` for those called e5."""
    embed_passage_prefix: str = ""
    """Put before what can be found, where the model was trained so: `passage: ` for those called e5."""
    base_url: str = ""
    """OpenAI-compatible endpoint, up to `/v1`; empty means OPENAI_BASE_URL, or else the one of OpenAI."""
    api_key_file: str = ""
    """File that holds the key; the environment variable OPENAI_API_KEY is read as well."""
    stalled_s: float = Field(default=120.0, gt=0, le=LONGEST_S)
    """Seconds without a byte after which an answer is given up (`LLM_STALLED`)."""
    at_once: int = Field(default=16, ge=1)
    """Requests of one organisation to its models at once, over all processes where Redis is there."""
    per_minute: int = Field(default=0, ge=0)
    """Requests of one organisation that may begin in a minute; 0 sets no limit."""
    most_tokens: int = Field(default=4_096, ge=1)
    """Tokens of one answer at most."""
    context_tokens: int = Field(default=128_000, ge=1_024)
    """Tokens of a request with its answer, where the endpoint does not tell."""
    stream: bool = True
    """Whether answers are asked for in parts, where the endpoint can."""
