"""What follows from a value that never changes is worked out once."""

from runtime.once import once_for_each


def test_the_same_object_is_worked_out_once_and_an_equal_one_anew() -> None:
    seen: list[tuple[int, ...]] = []

    @once_for_each(8)
    def total(numbers: tuple[int, ...]) -> int:
        seen.append(numbers)
        return sum(numbers)

    one = (1, 2)
    equal = (*one,)

    assert [total(one), total(one), total(equal)] == [3, 3, 3]
    assert len(seen) == 2


def test_what_is_remembered_is_bounded() -> None:
    seen: list[object] = []

    @once_for_each(2)
    def note(value: object) -> int:
        seen.append(value)
        return len(seen)

    values = [object(), object(), object()]
    assert [note(value) for value in values] == [1, 2, 3]
    assert note(values[2]) == 3
    assert note(values[0]) == 4
