"""What goes on by itself under a server: sensors that look, listen and tell the time, and rounds that act on them."""
