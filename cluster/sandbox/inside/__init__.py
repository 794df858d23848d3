"""What runs inside the slot, in front of the program. Standard library only: the slot sees nothing else of ours."""
