"""Which build the stand-in is: written by the tests into the folder that they import it from."""
