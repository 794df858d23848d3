"""What runs in the slot beside the browser and drives it, in a process of its own; nothing else of ours is there.

`host.py` answers requests, `watch.py` notices what a page does meanwhile, `launch.py` starts the browser, `relay.py`
carries its connections out.
"""
