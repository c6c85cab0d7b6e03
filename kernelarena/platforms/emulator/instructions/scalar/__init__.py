"""Scalar instructions, grouped as the ISA guide groups them; importing this enters all of them."""
