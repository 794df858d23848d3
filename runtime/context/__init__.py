"""What a model sees of the data of an execution, and in which form."""
