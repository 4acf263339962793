"""Pure functions from one probability row to another."""
