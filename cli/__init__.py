"""Arguments, wiring, and the only print of the project."""
