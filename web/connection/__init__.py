"""Between the network and the routes: listening, connections, who may do what, and the page's files.

Imports nothing else of the room.
"""
