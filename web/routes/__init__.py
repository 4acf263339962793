"""What is answered: a module for each page (play, explore, review, watch, train) and for the HTTP door.

Imports `connection` and `table`.
"""
