"""Every row of the table by name, in the order in which they are run.

chromadb comes last: its threads stay behind in the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import rows_bm25
import rows_decay
import rows_embed
import rows_fading
import rows_recall
import rows_scan
import rows_spread
import rows_words
from contest import Contest
from sizes import Sizes

ROWS: dict[str, Callable[[Sizes], Iterator[Contest]]] = {
    "embed": rows_embed.embed_many,
    "embed-one": rows_embed.embed_one,
    "scan": rows_scan.scan,
    "batch": rows_scan.batch,
    "approximate": rows_scan.approximate,
    "decayed": rows_fading.decayed,
    "decayed-hnsw": rows_fading.beside_hnsw,
    "words": rows_words.words,
    "columns": rows_decay.columns,
    "spread": rows_spread.capped,
    "spread-uncapped": rows_spread.uncapped,
    "add-link": rows_spread.add_link,
    "bm25": rows_bm25.bm25,
    "recall": rows_recall.ebbinghaus,
    "recall-default": rows_recall.default,
}
