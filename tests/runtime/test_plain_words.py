"""What validation found is told in words for people."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from contracts import Name
from runtime.plain_words import in_plain_words


@pytest.mark.parametrize(
    ("type_", "value", "words"),
    [
        (Annotated[tuple[int, ...], Field(max_length=2)], [1, 2, 3], "has 3 items; 2 is the most"),
        (Annotated[tuple[int, ...], Field(min_length=1)], [], "must not be empty"),
        (Annotated[str, Field(max_length=2)], "abc", "may have 2 letters at most"),
        (Annotated[float, Field(le=36_525)], 1e9, "must be 36,525 or less"),
        (Annotated[int, Field(gt=0)], 0, "must be more than 0"),
        (Annotated[float, Field(allow_inf_nan=False)], float("inf"), "must be a number that can be worked with"),
        (tuple[int, ...], 7, "must be a list"),
        (dict[str, int], 7, "must be an object"),
        (int, "x", "must be a whole number"),
        (bool, "x", "must be true or false"),
        (datetime, "x", "must be a time like 2013-02-08T17:00"),
        (Name, "Cancel Rate", "must be lower case, words joined by hyphens, for example cancel-rate"),
        (Annotated[str, Field(pattern="^x+$")], "y", "is not written as it must be (^x+$)"),
        (Literal["a", "b"], "c", "must be 'a' or 'b'"),
    ],
)
def test_a_fault_is_the_end_of_a_sentence(type_: Any, value: Any, words: str) -> None:
    with pytest.raises(ValidationError) as found:
        TypeAdapter(type_).validate_python(value)

    assert in_plain_words(found.value.errors()[0]) == words
