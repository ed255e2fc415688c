# What is called in C: the interpreter's strings, and the core.
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool


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
    bint PyUnicode_IS_ASCII(object text)
    const void* PyUnicode_DATA(object text)
    bint Py_UNICODE_ISALNUM(uint32_t point) noexcept nogil
    bint Py_UNICODE_ISDECIMAL(uint32_t point) noexcept nogil
    bint Py_UNICODE_ISPRINTABLE(uint32_t point) noexcept nogil
    bint Py_UNICODE_ISSPACE(uint32_t point) noexcept nogil


cdef extern from "core/hash_embed.h" namespace "ebb":
    const size_t kMaxDim


cdef extern from "core/text.h" namespace "ebb":
    cppclass Text:
        const void* units
        size_t length
        int width
        bint ascii

    cppclass CharacterSet:
        void fill(cbool (*test)(uint32_t) noexcept nogil) noexcept

    cppclass Split:
        const CharacterSet* characters
        bint lower_ascii

    bint has_surrogate(const Text& text) noexcept nogil
    bint has_hump(const Text& text) noexcept nogil


cdef extern from "core/character_classes.h" namespace "ebb":
    cppclass CharacterClasses:
        void mark(uint32_t point) noexcept

    const uint32_t CLASS_TABLE "ebb::CharacterClasses::kTable"
    const uint32_t HUMP_POINT "ebb::CharacterClasses::kHumpPoint"


cdef extern from "core/term_words.h" namespace "ebb":
    cppclass TermSplit:
        const CharacterClasses* classes
        bint single_characters


cdef extern from "core/word_hash.h" namespace "ebb":
    enum class Sign:
        kNone
        kSeed
        kIndependent


cdef extern from "bindings/text_functions.h" namespace "ebb::bindings":
    const char* kTextFunctions

    cppclass TextFunctions:
        object (*embed)(const Text*, size_t, const Split*, size_t, Sign, bint)
        object (*count)(const Text*, size_t, const Split*, size_t, Sign, bint)
        object (*terms)(object, const Text*, size_t, const TermSplit*)
        object (*unknown)(object, const Text*, size_t, const TermSplit*)
        object (*words)(const Text*, size_t, const Split*)
        void (*fill)(
            CharacterClasses*, uint32_t, uint32_t,
            cbool (*is_alphanumeric)(uint32_t) noexcept nogil,
            cbool (*is_decimal)(uint32_t) noexcept nogil,
        ) noexcept
