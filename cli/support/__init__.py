"""What commands are made of: requests, output, pictures, the terminal as a table, the demos.

Imports every other room; of this one, `main` is what the demos call.
"""
