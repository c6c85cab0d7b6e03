"""What in a source will not carry over, told from the source alone: findings, each with its line and what to do."""
