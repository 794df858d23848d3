"""The heartbeat: observe, orient, decide, act, evaluate, over and over."""
