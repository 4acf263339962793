"""The match network over MQTT: feeds, remote seats, table servers, and comparisons split over workers.

Imports every other shelf of `matches` but `report`.
"""
