"""All words for people that are not errors, in English and Chinese."""

from console.texts.catalogue import LANGUAGES, UnknownText, say_in

__all__ = ["LANGUAGES", "UnknownText", "say_in"]
