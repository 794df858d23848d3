"""What a process knows of orders without reading them."""

from contracts import OrderId
from runtime.engine.source import Source
from runtime.known import Known, New


def test_an_order_is_new_to_the_first_who_asks() -> None:
    known, made, said = Known(), OrderId.new(), OrderId.new()
    known.make(made)
    known.hear_of(said)

    assert [known.take_new(made), known.take_new(made), known.take_new(OrderId.new())] == [New.MADE, New.NO, New.NO]
    assert [known.take_new(said), known.take_new(said)] == [New.SAID, New.NO]


def test_an_end_is_given_once_to_whoever_awaited_it() -> None:
    known, order, view = Known(), OrderId.new(), Source()
    known.await_end(order)
    known.ended(order, view)

    assert known.take_end(order) is view
    assert known.take_end(order) is None


def test_an_end_that_nobody_awaits_is_not_kept() -> None:
    known, order = Known(), OrderId.new()
    known.ended(order, Source())

    assert known.take_end(order) is None


def test_awaiting_anew_forgets_an_earlier_end() -> None:
    known, order = Known(), OrderId.new()
    known.await_end(order)
    known.ended(order, Source())
    known.await_end(order)

    assert known.take_end(order) is None
