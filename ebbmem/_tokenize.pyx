# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Walk Python strings in place and emit ragged UTF-8 batches.

What a word character is comes from the running interpreter, so ``words`` agrees with its ``re``
and ``lower_split`` with its ``str``.  Strings are borrowed from a tuple that this module holds.
"""

from collections import namedtuple

import numpy as np

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from ebbmem.errors import InvalidArgument, InvalidType


cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030c0000
    #define ebb_make_ready(text) PyUnicode_READY(text)
    #else
    #define ebb_make_ready(text) 0
    #endif
    """
    int ebb_make_ready(object text) except -1
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    int PyUnicode_KIND(object text)
    const void* PyUnicode_DATA(object text)
    bint Py_UNICODE_ISALNUM(uint32_t point) noexcept nogil
    bint Py_UNICODE_ISSPACE(uint32_t point) noexcept nogil


WordBatch = namedtuple(
    "WordBatch", ["utf8", "word_ends", "text_ends"], module="ebbmem._tokenize"
)
WordBatch.__doc__ = """Words of many texts, back to back; the arrays are read-only.

Word ``w`` ends at byte ``word_ends[w]`` of ``utf8`` and starts where the one before it ends; text
``t`` ends at word ``text_ends[t]``.
"""

ctypedef fused unit:
    uint8_t
    uint16_t
    uint32_t

# A text in memory as CPython keeps it: `width` bytes per code point.
cdef struct Text:
    const void* units
    Py_ssize_t length
    int width

cdef struct Output:
    Text* texts
    char* utf8
    int64_t* word_ends
    int64_t* text_ends
    Py_ssize_t byte_count
    Py_ssize_t word_count

# The code points that words are made of: one bit each below 65536 (8 KiB, which stays in the
# first-level cache), the interpreter's own test above.
cdef struct Members:
    uint32_t bits[2048]
    bint all_but_spaces

cdef Members WORD_CHARACTERS
cdef Members NOT_SPACES

# A batch below this many code points keeps the GIL: handing it over costs more than the walk.
cdef enum:
    RELEASE_FROM = 65536


cdef bint tested(uint32_t point, bint all_but_spaces) noexcept nogil:
    if all_but_spaces:
        return not Py_UNICODE_ISSPACE(point)
    return point == 95 or Py_UNICODE_ISALNUM(point)


cdef void fill(Members* members, bint all_but_spaces) noexcept:
    cdef uint32_t point
    members.all_but_spaces = all_but_spaces
    for point in range(65536):
        if tested(point, all_but_spaces):
            members.bits[point >> 5] |= <uint32_t>1 << (point & 31)


fill(&WORD_CHARACTERS, False)
fill(&NOT_SPACES, True)


cdef inline bint belongs(uint32_t point, const Members* members) noexcept nogil:
    if point < 65536:
        return (members.bits[point >> 5] >> (point & 31)) & 1
    return tested(point, members.all_but_spaces)


cdef inline char* put_utf8(uint32_t point, char* at) noexcept nogil:
    """Write a code point that is not a surrogate; return where the next one goes."""
    if point < 0x80:
        at[0] = <char>point
        return at + 1
    if point < 0x800:
        at[0] = <char>(0xC0 | (point >> 6))
        at[1] = <char>(0x80 | (point & 63))
        return at + 2
    if point < 0x10000:
        at[0] = <char>(0xE0 | (point >> 12))
        at[1] = <char>(0x80 | ((point >> 6) & 63))
        at[2] = <char>(0x80 | (point & 63))
        return at + 3
    at[0] = <char>(0xF0 | (point >> 18))
    at[1] = <char>(0x80 | ((point >> 12) & 63))
    at[2] = <char>(0x80 | ((point >> 6) & 63))
    at[3] = <char>(0x80 | (point & 63))
    return at + 4


cdef void walk(
    const unit* units, Py_ssize_t length, const Members* members, Output* out
) noexcept nogil:
    """Append the words of one text."""
    cdef char* at = out.utf8 + out.byte_count
    cdef int64_t* end = out.word_ends + out.word_count
    cdef bint inside = False
    cdef Py_ssize_t i
    cdef uint32_t point
    for i in range(length):
        point = units[i]
        if belongs(point, members):
            at = put_utf8(point, at)
            inside = True
        elif inside:
            end[0] = at - out.utf8
            end += 1
            inside = False
    if inside:
        end[0] = at - out.utf8
        end += 1
    out.byte_count = at - out.utf8
    out.word_count = end - out.word_ends


cdef void walk_all(Py_ssize_t count, const Members* members, Output* out) noexcept nogil:
    cdef Py_ssize_t t
    cdef Text text
    for t in range(count):
        text = out.texts[t]
        if text.width == 1:
            walk[uint8_t](<const uint8_t*>text.units, text.length, members, out)
        elif text.width == 2:
            walk[uint16_t](<const uint16_t*>text.units, text.length, members, out)
        else:
            walk[uint32_t](<const uint32_t*>text.units, text.length, members, out)
        out.text_ends[t] = out.word_count


cdef bint any_surrogate(const unit* units, Py_ssize_t length) noexcept nogil:
    cdef uint32_t found = 0
    cdef Py_ssize_t i
    for i in range(length):  # without an early exit the compiler makes vector code of it
        found |= <uint32_t>((<uint32_t>units[i] >> 11) == 0x1B)
    return found != 0


cdef bint has_surrogate(const Text* text) noexcept nogil:
    if text.width == 1:
        return False
    if text.width == 2:
        return any_surrogate[uint16_t](<const uint16_t*>text.units, text.length)
    return any_surrogate[uint32_t](<const uint32_t*>text.units, text.length)


cdef Text borrow(object item, Py_ssize_t position, bint encodable) except *:
    """Return where the code points of one text are; refuse what is no text."""
    cdef Text text
    if not isinstance(item, str):
        raise InvalidType.of(f"texts[{position}]", "str", item)
    ebb_make_ready(item)
    text.units = PyUnicode_DATA(item)
    text.length = PyUnicode_GET_LENGTH(item)
    text.width = PyUnicode_KIND(item)
    if encodable and has_surrogate(&text):
        raise InvalidArgument.of(f"texts[{position}]", "text without lone surrogates", item)
    return text


cdef tuple held(object texts):
    """Return a tuple of our own: another thread may change the caller's list."""
    if not isinstance(texts, (list, tuple)):
        raise InvalidType.of("texts", "a list or tuple of str", texts)
    return tuple(texts)


cdef void* allocated(Py_ssize_t size) except NULL:
    cdef void* memory = PyMem_RawMalloc(size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef Py_ssize_t reserve(tuple texts, Output* out, bint encodable) except -1:
    """Borrow every text, make room for the most it can give; return the number of code points."""
    cdef Py_ssize_t count = len(texts)
    cdef Py_ssize_t points = 0, most_bytes = 0, most_words = 0
    cdef Py_ssize_t t
    cdef Text text
    out.texts = <Text*>allocated(count * sizeof(Text))
    out.text_ends = <int64_t*>allocated(count * sizeof(int64_t))
    for t in range(count):
        text = borrow(texts[t], t, encodable)
        out.texts[t] = text
        points += text.length
        # At one, two and four bytes per code point UTF-8 takes at most two, three and four.
        most_bytes += text.length * (4 if text.width == 4 else text.width + 1)
        most_words += (text.length + 1) // 2
    out.utf8 = <char*>allocated(most_bytes)
    out.word_ends = <int64_t*>allocated(most_words * sizeof(int64_t))
    return points


cdef object offsets(const int64_t* ends, Py_ssize_t count):
    """Return a read-only copy."""
    cdef object array = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] view = array
    if count > 0:
        memcpy(&view[0], ends, count * sizeof(int64_t))
    array.flags.writeable = False
    return array


cdef object split(tuple texts, const Members* members, bint encodable):
    cdef Output out
    cdef Py_ssize_t count = len(texts)
    out.texts = NULL
    out.utf8 = NULL
    out.word_ends = out.text_ends = NULL
    out.byte_count = out.word_count = 0
    try:
        if reserve(texts, &out, encodable) < RELEASE_FROM:
            walk_all(count, members, &out)
        else:
            with nogil:
                walk_all(count, members, &out)
        return WordBatch(
            PyBytes_FromStringAndSize(out.utf8, out.byte_count),
            offsets(out.word_ends, out.word_count),
            offsets(out.text_ends, count),
        )
    finally:
        PyMem_RawFree(out.texts)
        PyMem_RawFree(out.utf8)
        PyMem_RawFree(out.word_ends)
        PyMem_RawFree(out.text_ends)


def words(texts, *, bint encodable=False):
    """Return the runs of word characters of every text, as ``re.findall(r"\\w+", text)``.

    Parameters
    ----------
    texts : list or tuple of str
    encodable : bool, keyword-only
        Refuse a text with a lone surrogate, which UTF-8 cannot encode. By default surrogates are
        passed over: they are no word characters.

    Returns
    -------
    WordBatch

    Raises
    ------
    InvalidType
        If ``texts`` is no list or tuple, or holds something else than ``str``.
    InvalidArgument
        If a text has a lone surrogate and ``encodable`` is set; the message names its position.
    """
    return split(held(texts), &WORD_CHARACTERS, encodable)


def lower_split(texts):
    """Return ``text.lower().split()`` of every text.

    Parameters
    ----------
    texts : list or tuple of str

    Returns
    -------
    WordBatch

    Raises
    ------
    InvalidType
        If ``texts`` is no list or tuple, or holds something else than ``str``.
    InvalidArgument
        If a text has a lone surrogate; the message names its position.
    """
    lowered = tuple([str.lower(text) for text in checked(texts)])
    return split(lowered, &NOT_SPACES, False)


def checked(texts):
    """Return the texts as a tuple, if UTF-8 can encode all of them.

    Parameters
    ----------
    texts : list or tuple of str

    Returns
    -------
    tuple of str

    Raises
    ------
    InvalidType
        If ``texts`` is no list or tuple, or holds something else than ``str``.
    InvalidArgument
        If a text has a lone surrogate; the message names its position.
    """
    cdef tuple own = held(texts)
    cdef Py_ssize_t t
    for t in range(len(own)):
        borrow(own[t], t, True)
    return own
