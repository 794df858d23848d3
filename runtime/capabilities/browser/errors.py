"""What can go wrong with a page, for callers that can act on it.

CapabilityFailed
├── BrowserUnavailable   the browser does not start in this slot       (see `silicon doctor`)
├── PageLost             the page crashed, hung or its browser ended   (open it again)
└── BusinessRefusal
    ├── NoPageOpen       nothing was opened in this order yet, or its slot is a new one   (open it, or say `url`)
    └── PageChanged      the page no longer reads as it was seen       (read it again, decide again)
"""

from __future__ import annotations

from runtime.errors import BusinessRefusal, CapabilityFailed


class BrowserUnavailable(CapabilityFailed):
    """The browser does not start here."""

    code = "BROWSER_UNAVAILABLE"


class PageLost(CapabilityFailed):
    """The page crashed or answers nothing any more, or its browser ended; the next call starts a new one."""

    code = "PAGE_LOST"


class NoPageOpen(BusinessRefusal):
    """No page is open in the slot of this order."""

    code = "NO_PAGE_OPEN"


class PageChanged(BusinessRefusal):
    """The page no longer reads as it did when it was seen; nothing was done to it."""

    code = "PAGE_CHANGED"
