"""The organisation that `silicon init` makes: a bakery with four weeks of sales."""
