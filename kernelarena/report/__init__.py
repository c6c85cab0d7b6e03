"""What people read: terminal, markdown, JSON and HTML."""
