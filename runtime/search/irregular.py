"""English words whose forms no ending tells: `paid` is `pay`, `children` are `child`.

Forms that are as often another word are left out: left, saw, rose, ground, wound, bound, bore, fell, felt, lay, shot.
"""

from __future__ import annotations

from collections.abc import Mapping

_FORMS = """
arise arose arisen, awake awoke awoken, become became, begin began begun, bend bent, bite bit bitten, bleed bled,
blow blew blown, break broke broken, breed bred, bring brought, build built, burn burnt, buy bought, catch caught,
choose chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn, dream dreamt,
drink drank drunk, drive drove driven, eat ate eaten, feed fed, fight fought, find found, flee fled, fly flew flown,
forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze frozen, get got gotten,
give gave given, go went gone, grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept,
know knew known, lead led, learn learnt, lend lent, lose lost, make made, mean meant, meet met,
mistake mistook mistaken, overcome overcame, overdo overdid overdone, oversee oversaw overseen, oversleep overslept,
overtake overtook overtaken, pay paid, prove proven, rebuild rebuilt, repay repaid, resell resold, rethink rethought,
rewrite rewrote rewritten, ride rode ridden, ring rang rung, run ran, say said, seek sought, sell sold, send sent,
shake shook shaken, shine shone, show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat,
sleep slept, slide slid, speak spoke spoken, spend spent, spill spilt, spin spun, spoil spoilt, stand stood,
steal stole stolen, stick stuck, strike struck stricken, strive strove striven, swear swore sworn, sweep swept,
swell swollen, swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think thought,
throw threw thrown, undergo underwent undergone, understand understood, undertake undertook undertaken,
undo undid undone, unwind unwound, uphold upheld, wake woke woken, wear wore worn, weave wove woven, weep wept,
win won, withdraw withdrew withdrawn, withhold withheld, withstand withstood, write wrote written,
analysis analyses, basis bases, child children, crisis crises, criterion criteria, diagnosis diagnoses, foot feet,
half halves, hypothesis hypotheses, knife knives, life lives, loaf loaves, man men, mouse mice, person people,
shelf shelves, thief thieves, tooth teeth, wife wives, woman women
"""


def base_forms() -> Mapping[str, str]:
    """Return form → the word that it is a form of."""
    words = (entry.split() for entry in _FORMS.replace("\n", " ").split(","))
    return {form: base for base, *forms in words for form in forms}
