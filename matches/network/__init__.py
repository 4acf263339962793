"""The match network over MQTT: feeds, remote seats, table servers, and comparisons split over workers.

Imports `table`, `engine`, `duplicate`, `plan` and `statistics`.
"""
