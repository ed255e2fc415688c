// _core._testing: what hashes words, by instruction set and apart from texts, and what
// numbers the hashes and counts by number.
#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/dispatch.h"
#include "core/index_map.h"
#include "core/key_set.h"
#include "core/small_counts.h"
#include "core/word_hash.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

py::array_t<std::uint64_t> md5_short(const std::string& isa, const py::object& bytes,
                                     const py::object& begins, const py::object& ends) {
  const auto text = vector_view<std::uint8_t>(bytes, "bytes");
  const Span<const std::int64_t> from = vector_view<std::int64_t>(begins, "begins");
  const Span<const std::int64_t> to = vector_view<std::int64_t>(ends, "ends", from.size);
  std::vector<Span<const char>> words;
  for (std::size_t i = 0; i < from.size; ++i) {
    const auto* word = reinterpret_cast<const char*>(text.data + from[i]);
    words.push_back({word, static_cast<std::size_t>(to[i] - from[i])});
  }
  py::array_t<std::uint64_t> out({static_cast<py::ssize_t>(from.size), py::ssize_t{2}});
  static_assert(sizeof(Md5) == 2 * sizeof(std::uint64_t));
  find(isa).md5_short(words.data(), words.size(), reinterpret_cast<Md5*>(out.mutable_data()));
  return out;
}

// Words back to back, as the tests hand them over.
std::vector<Span<const char>> words_of(const py::bytes& utf8, const py::object& word_ends) {
  const char* text = PyBytes_AS_STRING(utf8.ptr());
  std::vector<Span<const char>> words;
  std::int64_t begin = 0;
  for (const std::int64_t end : vector_view<std::int64_t>(word_ends, "word_ends")) {
    words.push_back({text + begin, static_cast<std::size_t>(end - begin)});
    begin = end;
  }
  return words;
}

std::uint64_t ascii_members(const std::string& isa, const py::bytes& text, const py::bytes& rows) {
  const auto* table = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(rows.ptr()));
  const auto count = static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr()));
  return find(isa).ascii_members(PyBytes_AS_STRING(text.ptr()), count, table);
}

py::array_t<std::uint64_t> hash_words(const py::bytes& utf8, const py::object& word_ends) {
  const std::vector<Span<const char>> words = words_of(utf8, word_ends);
  return to_numpy(ebb::hash_words({words.data(), words.size()}));
}

py::tuple bucket_words(const py::bytes& utf8, const py::object& word_ends, std::uint64_t dim,
                       const std::string& sign) {
  const std::vector<Span<const char>> words = words_of(utf8, word_ends);
  std::vector<Md5> digests(words.size());
  digest_words(words.data(), words.size(), digests.data());
  std::vector<std::uint64_t> buckets;
  std::vector<std::int32_t> signs;
  for (const Md5& digest : digests) {
    buckets.push_back(digest.mod(dim));
    signs.push_back(sign_of(digest, sign_named(sign)));
  }
  return py::make_tuple(to_numpy(std::move(buckets)), to_numpy(std::move(signs)));
}

// Inserts the keys, giving back the spare room after `fit_after` of them, and finds the others.
py::tuple index_map(const py::object& keys, const py::object& others, std::size_t fit_after) {
  IndexMap map;
  std::vector<std::uint32_t> inserted;
  for (const std::uint64_t key : vector_view<std::uint64_t>(keys, "keys")) {
    if (inserted.size() == fit_after) map.fit();
    inserted.push_back(map.insert(key));
  }
  std::vector<std::uint32_t> found;
  for (const std::uint64_t key : vector_view<std::uint64_t>(others, "others")) {
    found.push_back(map.find(key));
  }
  std::vector<std::uint64_t> held;
  map.each([&](std::uint64_t key, std::uint32_t index) {
    if (index == held.size()) held.push_back(key);
  });
  return py::make_tuple(to_numpy(std::move(inserted)), to_numpy(std::move(found)),
                        to_numpy(std::move(held)), map.bytes());
}

// The number of each of the others, or -1, and the keys again.
py::tuple key_set(const py::object& keys, const py::object& others) {
  const auto distinct = vector_view<std::uint32_t>(keys, "keys");
  const KeySet set(std::vector<std::uint32_t>(distinct.begin(), distinct.end()));
  std::vector<std::int64_t> found;
  for (const std::uint32_t key : vector_view<std::uint32_t>(others, "others")) {
    const std::size_t number = set.find(key);
    found.push_back(number == KeySet::kAbsent ? -1 : static_cast<std::int64_t>(number));
  }
  std::vector<std::uint32_t> held(set.size());
  set.each([&](std::size_t number, std::uint32_t key) { held[number] = key; });
  return py::make_tuple(to_numpy(std::move(found)), to_numpy(std::move(held)), set.bytes());
}

// `size` counts after each list of numbers was added, then `less` taken from each.
py::tuple small_counts(std::size_t size, const py::list& added, const py::object& less) {
  SmallCounts counts;
  counts.grow(size);
  for (const py::handle numbers : added) {
    counts.add(vector_view<std::uint32_t>(py::reinterpret_borrow<py::object>(numbers), "added"));
  }
  const auto amounts = vector_view<std::uint32_t>(less, "less", size);
  std::vector<std::uint32_t> left;
  for (std::size_t number = 0; number < size; ++number) {
    counts.subtract(number, amounts[number]);
    left.push_back(counts[number]);
  }
  return py::make_tuple(to_numpy(std::move(left)), counts.bytes());
}

}  // namespace

void bind_testing_words(py::module_& testing) {
  testing.def("md5_short", &md5_short, py::arg("isa"), py::arg("bytes"), py::arg("begins"),
              py::arg("ends"));
  testing.def("hash_words", &hash_words, py::arg("utf8"), py::arg("word_ends"));
  testing.def("bucket_words", &bucket_words, py::arg("utf8"), py::arg("word_ends"), py::arg("dim"),
              py::arg("sign"));
  testing.def("ascii_members", &ascii_members, py::arg("isa"), py::arg("text"), py::arg("rows"));
  testing.def("index_map", &index_map, py::arg("keys"), py::arg("others"), py::arg("fit_after"));
  testing.def("key_set", &key_set, py::arg("keys"), py::arg("others"));
  testing.def("small_counts", &small_counts, py::arg("size"), py::arg("added"), py::arg("less"));
}

}  // namespace ebb::bindings
