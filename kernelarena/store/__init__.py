"""The run folder: configuration, results and artefacts on disk."""
