"""The four gates, the tolerance and the shape draw: pure functions that decide, and never touch a process."""
