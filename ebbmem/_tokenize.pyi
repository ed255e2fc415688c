from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

class WordBatch(NamedTuple):
    utf8: bytes
    word_ends: NDArray[np.int64]
    text_ends: NDArray[np.int64]

def words(texts: list[str] | tuple[str, ...], *, encodable: bool = False) -> WordBatch: ...
def lower_split(texts: list[str] | tuple[str, ...]) -> WordBatch: ...
def checked(texts: list[str] | tuple[str, ...]) -> tuple[str, ...]: ...
