"""`browser.*`: pages opened, read and acted on in the slot.

`capability.py` is what a step calls, `session.py` the browser of one order, `driven/` the program in the slot that
drives it, `proxy.py` its only way out, `sites.py` where that way leads.
"""
