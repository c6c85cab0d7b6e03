"""Python as the rules see it: a tree in which every name is known by the module that it comes from."""
