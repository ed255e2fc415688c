"""Harnesses for what is promised about many processes on one file, under kills and signals.

One module per figure, each with ``measure(rounds, seed, seconds)``: it goes on until so many rounds
are done or so many seconds have passed, and returns what it counted.  ``test_*.py`` calls short
forms; ``python tests/reliability`` runs the long ones and prints the scorecard.  Everything goes
through the public surface of ebbmem; faults are planted by ``plants`` in the harness's own workers.
"""
