# Read by module_function.
def connect(host):
    raise OSError(f"no route to {host}")
