print("a service")
