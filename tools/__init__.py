"""What writes the generated parts of the documentation: ``make readme``."""
