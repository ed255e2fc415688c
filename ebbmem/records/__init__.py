"""Where memories are kept for good: one protocol, and SQLite behind it."""
