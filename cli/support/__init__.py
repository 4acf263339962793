"""What commands are made of: requests, output, pictures, the terminal as a table, the demos.

Imports every room, and of `cli` the options alone; the demos call `main`.
"""
