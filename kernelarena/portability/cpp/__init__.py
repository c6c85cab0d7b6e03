"""C++ as the rules see it: a tree without comments, with names resolved as far as one file allows."""
