"""How people are told outside of the console: by webhook and e-mail, apart from the work, and nothing is lost."""

from governance.channels.channel import Channel, Mailbox, Notify, Quiet, Security, Webhook
from governance.channels.delivery import Delivery, DeliveryState

__all__ = ["Channel", "Delivery", "DeliveryState", "Mailbox", "Notify", "Quiet", "Security", "Webhook"]
