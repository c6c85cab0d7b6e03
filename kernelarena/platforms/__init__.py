"""What is known of chips: their files, the code of each vendor's runtime, and the personas that host code is shown."""
