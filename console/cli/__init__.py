"""The command line `silicon`. `main.run` is its entry; nothing heavy is imported before a command is chosen."""
