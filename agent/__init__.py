"""Follows a real hand through the abstract tree and answers a dealer."""
