result = {}
