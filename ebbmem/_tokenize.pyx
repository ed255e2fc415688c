# cython: language_level=3
"""Walk Python strings into ragged UTF-8 batches."""
