"""Post-processing as the agent runs it: its kernels, and rules from a user's file.

Imports nothing of its room.
"""
