print("starting up")
