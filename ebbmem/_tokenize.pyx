# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: embedsignature=True, binding=False, always_allow_keywords=False
# Methods as C has them: of the half a microsecond that one text takes to embed, this saves 25 ns.
# distutils: language = c++
"""Borrow Python strings and hand them to the core: words, vectors, terms.

What a word character is comes from the running interpreter, so ``words`` agrees with its ``re``,
``lower_split`` with its ``str`` and the terms with its ``unicodedata``.  Strings are borrowed from
a tuple that this module holds.
"""

import unicodedata
from collections import namedtuple

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType

WordBatch = namedtuple(
    "WordBatch", ["utf8", "word_ends", "text_ends"], module="ebbmem._tokenize"
)
WordBatch.__doc__ = """Words of many texts, back to back.

Word ``w`` ends at byte ``word_ends[w]`` of ``utf8`` and starts where the one before it ends; text
``t`` ends at word ``text_ends[t]``.
"""

cdef const TextFunctions* CORE = <const TextFunctions*>PyCapsule_GetPointer(
    _core._text_functions, kTextFunctions
)
cdef CharacterSet WORD_CHARACTERS
cdef CharacterSet NOT_SPACES


cdef cbool is_word_character(uint32_t point) noexcept nogil:
    return point == 95 or Py_UNICODE_ISALNUM(point)


cdef cbool is_no_space(uint32_t point) noexcept nogil:
    return not Py_UNICODE_ISSPACE(point)


WORD_CHARACTERS.fill(is_word_character)
NOT_SPACES.fill(is_no_space)


# Stands in a folded text where a small ASCII letter was followed by a capital.
HUMP = chr(HUMP_POINT)

cdef CharacterClasses CLASSES
cdef bint classes_are_filled = False
cdef bint classes_are_whole = False


cdef cbool is_alphanumeric(uint32_t point) noexcept nogil:
    return Py_UNICODE_ISALNUM(point)


cdef cbool is_decimal(uint32_t point) noexcept nogil:
    return Py_UNICODE_ISDECIMAL(point)


CORE.fill(&CLASSES, 0, 128, is_alphanumeric, is_decimal)


cdef object know_all_classes():
    """Fill the table beyond ASCII, which takes some ms, when the first text needs it."""
    global classes_are_filled, classes_are_whole
    cdef uint32_t point
    if not classes_are_filled:  # once: to fill takes the marks away
        CORE.fill(&CLASSES, 128, CLASS_TABLE, is_alphanumeric, is_decimal)
        classes_are_filled = True
    # Other threads may come here meanwhile, as category is Python's: they mark the same.
    for point in range(128, CLASS_TABLE):
        if Py_UNICODE_ISPRINTABLE(point) and not Py_UNICODE_ISALNUM(point):
            if unicodedata.category(chr(point)) in ("Mn", "Mc"):
                CLASSES.mark(point)
    classes_are_whole = True


cdef Text borrowed(object text) noexcept:
    """Return where the code points of a ``str`` are."""
    cdef Text found
    found.units = PyUnicode_DATA(text)
    found.length = <size_t>PyUnicode_GET_LENGTH(text)
    found.width = PyUnicode_KIND(text)
    found.ascii = PyUnicode_IS_ASCII(text)
    return found


cdef str place(str argument, Py_ssize_t position):
    return argument if position < 0 else f"{argument}[{position}]"


cdef int require_text(object item, str argument, Py_ssize_t position, bint encodable) except -1:
    """Refuse what is no ``str`` or, if it must be encodable, has a lone surrogate."""
    if not isinstance(item, str):
        raise InvalidType.of(place(argument, position), "str", item)
    ebb_make_ready(item)
    if encodable and not PyUnicode_IS_ASCII(item) and has_surrogate(borrowed(item)):
        raise InvalidArgument.of(place(argument, position), "text without lone surrogates", item)
    return 0


cdef tuple held(object texts):
    """Return a tuple of our own: another thread may change the caller's list."""
    if not isinstance(texts, (list, tuple)):
        raise InvalidType.of("texts", "a list or tuple of str", texts)
    return tuple(texts)


cdef class _Splitter:
    """How texts become words, and what they go through first."""

    cdef Split how
    cdef object fold  # for texts that are not ASCII; None leaves them as they are
    cdef bint encodable

    cdef object folded(self, object text, str argument, Py_ssize_t position):
        """Return the text that the core is to split."""
        require_text(text, argument, position, self.encodable)
        if self.fold is None or PyUnicode_IS_ASCII(text):
            return text
        if not classes_are_whole:
            know_all_classes()
        text = self.fold(text)
        if not isinstance(text, str):
            raise InvalidType.of("fold", "a function that returns str", text)
        ebb_make_ready(text)
        return text


cdef _Splitter splitter(
    const CharacterSet* characters, bint lower_ascii, object fold, bint encodable
):
    cdef _Splitter made = _Splitter.__new__(_Splitter)
    made.how.characters = characters
    made.how.lower_ascii = lower_ascii
    made.fold = fold
    made.encodable = encodable
    return made


cdef _Splitter WORDS = splitter(&WORD_CHARACTERS, False, None, False)
cdef _Splitter ENCODABLE_WORDS = splitter(&WORD_CHARACTERS, False, None, True)
cdef _Splitter LOWER_SPLIT = splitter(&NOT_SPACES, True, str.lower, True)


cdef class _Batch:
    """Texts that the core may read as long as this lives."""

    cdef Text* texts
    cdef size_t count
    cdef tuple own
    cdef list folded

    def __dealloc__(self):
        PyMem_RawFree(self.texts)


cdef _Batch batch(object texts, _Splitter split):
    cdef _Batch made = _Batch.__new__(_Batch)
    cdef Py_ssize_t t
    cdef object text
    made.own = held(texts)
    made.folded = []
    made.count = <size_t>len(made.own)
    made.texts = <Text*>PyMem_RawMalloc(made.count * sizeof(Text))
    if made.texts == NULL:
        raise MemoryError
    for t in range(len(made.own)):
        text = split.folded(made.own[t], "texts", t)
        if text is not made.own[t]:
            made.folded.append(text)
        made.texts[t] = borrowed(text)
    return made


cdef class WordHasher:
    """The word hash of texts: each word counts in the bucket of its MD5.

    Parameters
    ----------
    split : "words" or "lower_split"
    dim : int
        1 to 2**24.
    sign : None or "seed" or "independent"
    """

    cdef _Splitter split
    cdef size_t dim
    cdef Sign sign
    cdef tuple arguments

    def __cinit__(self, *_):
        # Whole even where __init__ did not run: C++ reads these unchecked.
        self.split = ENCODABLE_WORDS
        self.dim = 1
        self.arguments = ("words", 1, None)

    def __init__(self, split, dim, sign):
        if not 1 <= dim <= kMaxDim:
            raise InvalidArgument.of("dim", f"1 to {kMaxDim}", dim)
        self.split = {"words": ENCODABLE_WORDS, "lower_split": LOWER_SPLIT}[split]
        self.dim = dim
        self.sign = Sign.kNone
        if sign is not None:
            self.sign = {"seed": Sign.kSeed, "independent": Sign.kIndependent}[sign]
        self.arguments = (split, dim, sign)

    def __reduce__(self):
        return WordHasher, self.arguments

    def embed(self, text):
        """Return the (dim,) float32 row of one text."""
        text = self.split.folded(text, "text", -1)
        cdef Text one = borrowed(text)
        return CORE.embed(&one, 1, &self.split.how, self.dim, self.sign, True)

    def embed_many(self, texts):
        """Return the (n, dim) float32 rows of a list or tuple of texts."""
        cdef _Batch many = batch(texts, self.split)
        return CORE.embed(
            many.texts, many.count, &self.split.how, self.dim, self.sign, False
        )

    def counts_many(self, texts):
        """Return buckets, counts and where each text ends, of a list or tuple of texts."""
        cdef _Batch many = batch(texts, self.split)
        return CORE.count(
            many.texts, many.count, &self.split.how, self.dim, self.sign, False
        )

    def counts(self, text):
        """Return buckets and counts of one text."""
        text = self.split.folded(text, "text", -1)
        cdef Text one = borrowed(text)
        return CORE.count(&one, 1, &self.split.how, self.dim, self.sign, True)


cdef class TermReader:
    """Reads texts as terms: their words as a lexicon knows them, and words as they are.

    Parameters
    ----------
    lexicon : _core.Lexicon or None
        Without one every form is its own term.
    fold : callable, ``str -> str``
        Folds a text that is not ASCII; ASCII is lowered.
    """

    cdef _Splitter split
    cdef TermSplit texts
    cdef TermSplit cues
    cdef object lexicon

    def __cinit__(self, *_):
        # As above.
        self.split = splitter(&WORD_CHARACTERS, True, str.casefold, True)
        self.texts.classes = self.cues.classes = &CLASSES
        self.texts.single_characters = True
        self.cues.single_characters = False

    def __init__(self, lexicon, fold):
        if lexicon is not None and not isinstance(lexicon, _core.Lexicon):
            raise InvalidType.of("lexicon", "a Lexicon or None", lexicon)
        if not callable(fold):
            raise InvalidType.of("fold", "a function", fold)
        self.split = splitter(&WORD_CHARACTERS, True, fold, True)
        self.lexicon = lexicon

    def terms(self, texts, as_cues=False):
        """Return term ids and where each text ends; None if some form is not known.

        Cues leave out the single characters of scripts without spaces that have a neighbour.
        """
        # Held: another thread may call __init__ while the core reads them.
        cdef _Splitter split = self.split
        cdef object lexicon = self.lexicon
        cdef _Batch many = batch(texts, split)
        cdef const TermSplit* how = &self.cues if as_cues else &self.texts
        return CORE.terms(lexicon, many.texts, many.count, how)

    def unknown(self, texts):
        """Return the forms the lexicon does not know, each once, in order.

        It forgets all first when it holds more than its capacity.
        """
        cdef _Splitter split = self.split
        cdef object lexicon = self.lexicon
        if lexicon is None:
            raise InvalidType.of("lexicon", "a Lexicon", None)
        cdef _Batch many = batch(texts, split)
        return CORE.unknown(lexicon, many.texts, many.count, &self.cues)


def has_humps(text):
    """Return whether a small ASCII letter is followed by a capital one somewhere in a ``str``."""
    require_text(text, "text", -1, False)
    return has_hump(borrowed(text))


cdef object words_of(object texts, _Splitter split):
    cdef _Batch many = batch(texts, split)
    utf8, word_ends, text_ends = CORE.words(many.texts, many.count, &split.how)
    word_ends.flags.writeable = text_ends.flags.writeable = False
    return WordBatch(utf8, word_ends, text_ends)


def words(texts):
    """Return the runs of word characters of every text, as ``re.findall(r"\w+", text)``.

    Surrogates are passed over: they are no word characters.

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
    """
    return words_of(texts, WORDS)


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
    return words_of(texts, LOWER_SPLIT)


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
        require_text(own[t], "texts", t, True)
    return own
