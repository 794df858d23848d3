"""From a finding to a card: two or three options, and a person who chooses."""

from agents.cognition.advise.capability import AdviseCapability
from agents.cognition.advise.left_out import not_offered
from agents.cognition.advise.options import OptionsFile, OptionTemplate, parse_options

__all__ = ["AdviseCapability", "OptionTemplate", "OptionsFile", "not_offered", "parse_options"]
