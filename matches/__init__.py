"""The dealer, duplicate matches, transcripts and statistics."""
