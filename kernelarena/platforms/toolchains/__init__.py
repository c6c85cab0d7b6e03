"""What turns kernels into device binaries, and how to read what it built."""
