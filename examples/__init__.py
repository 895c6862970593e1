"""The submitter's side of quota management, and the demo."""
