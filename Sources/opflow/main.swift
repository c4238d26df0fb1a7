print("opflow")
