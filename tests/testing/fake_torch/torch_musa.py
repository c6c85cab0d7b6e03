"""The plug-in of a vendor, as far as it is needed: importing it teaches torch its devices."""

import fake_torch

fake_torch.plug_in("musa")
