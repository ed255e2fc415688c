#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "bindings/topics.h"
#include "bindings/word_views.h"
#include "core/errors.h"
#include "core/hash_embed.h"
#include "core/word_hash.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

constexpr long long kMaxBuckets = 1LL << 32;

std::uint64_t checked_dim(long long dim, long long highest) {
  if (dim < 1 || dim > highest) {
    throw ValueError("dim", "an integer from 1 to " + std::to_string(highest), std::to_string(dim));
  }
  return static_cast<std::uint64_t>(dim);
}

py::array_t<float> embed(const py::object& utf8, const py::object& word_ends,
                         const py::object& text_ends, long long dim, const std::string& sign) {
  const WordBatch batch = words_view(utf8, word_ends, text_ends);
  const std::size_t columns = checked_dim(dim, static_cast<long long>(kMaxDim));
  const Sign rule = sign_named(sign);
  py::array_t<float> rows(
      {static_cast<py::ssize_t>(batch.text_ends.size), static_cast<py::ssize_t>(columns)});
  float* out = rows.mutable_data();
  {
    const py::gil_scoped_release nogil;
    embed_words(batch, columns, rule, out);
  }
  return rows;
}

py::tuple count(const py::object& utf8, const py::object& word_ends, const py::object& text_ends,
                long long dim, const std::string& sign) {
  const WordBatch batch = words_view(utf8, word_ends, text_ends);
  const std::size_t columns = checked_dim(dim, static_cast<long long>(kMaxDim));
  const Sign rule = sign_named(sign);
  SparseCounts found;
  {
    const py::gil_scoped_release nogil;
    found = count_words(batch, columns, rule);
  }
  return py::make_tuple(to_numpy(std::move(found.buckets)), to_numpy(std::move(found.counts)),
                        to_numpy(std::move(found.text_ends)));
}

py::array_t<std::uint64_t> hash(const py::object& utf8, const py::object& word_ends) {
  const WordBatch batch = words_view(utf8, word_ends);
  std::vector<std::uint64_t> ids;
  {
    const py::gil_scoped_release nogil;
    ids = hash_words(batch);
  }
  return to_numpy(std::move(ids));
}

py::tuple bucket(const py::object& utf8, const py::object& word_ends, long long dim,
                 const std::string& sign) {
  const WordBatch batch = words_view(utf8, word_ends);
  const std::uint64_t divisor = checked_dim(dim, kMaxBuckets);
  const Sign rule = sign_named(sign);
  const std::size_t count = batch.word_ends.size;
  std::vector<std::uint32_t> buckets(count);
  std::vector<std::int8_t> signs(count);
  {
    const py::gil_scoped_release nogil;
    bucket_words(batch, 0, count, divisor, rule, buckets.data(), signs.data());
  }
  return py::make_tuple(to_numpy(std::move(buckets)), to_numpy(std::move(signs)));
}

}  // namespace

void bind_embed(py::module_& m) {
  m.def("embed_words", &embed, py::arg("utf8"), py::arg("word_ends"), py::arg("text_ends"),
        py::arg("dim"), py::arg("sign"), "Unit rows of signed word counts, one per text.");
  m.def("count_words", &count, py::arg("utf8"), py::arg("word_ends"), py::arg("text_ends"),
        py::arg("dim"), py::arg("sign"),
        "Non-zero signed word counts of each text: buckets, counts and where each text ends.");
  m.def("hash_words", &hash, py::arg("utf8"), py::arg("word_ends"),
        "The low 64 bits of the MD5 of each word.");
  m.def("bucket_words", &bucket, py::arg("utf8"), py::arg("word_ends"), py::arg("dim"),
        py::arg("sign"), "The bucket (MD5 mod dim) and the sign of each word.");
}

}  // namespace ebb::bindings
