// _core._testing: every kernel of every table by its instruction-set name, the elementary
// functions, and what a search had to look at. For tests and benchmarks only.
#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bindings/numpy_views.h"
#include "bindings/ranking.h"
#include "bindings/topics.h"
#include "core/dispatch.h"
#include "core/elementary.h"
#include "core/faded_scan.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

py::array_t<float> dot_rows(const std::string& isa, const py::object& query,
                            const py::object& rows) {
  const KernelTable& table = find(isa);
  const py::array row_array = checked_array<float>(rows, "rows", 2);
  const auto count = static_cast<std::size_t>(row_array.shape(0));
  const auto dim = static_cast<std::size_t>(row_array.shape(1));
  if (dim % kLanes != 0) throw ShapeError("rows", "a multiple of 16 columns", std::to_string(dim));
  const Span<const float> q = vector_view<float>(query, "query", dim);
  py::array_t<float> out(static_cast<py::ssize_t>(count));
  table.dot_rows(q.data, static_cast<const float*>(row_array.data()), dim, count, dim,
                 out.mutable_data());
  return out;
}

py::array_t<float> exp_f32(const std::string& isa, const py::object& x) {
  const Span<const float> values = vector_view<float>(x, "x");
  py::array_t<float> out(static_cast<py::ssize_t>(values.size));
  find(isa).exp_f32(values.data, values.size, out.mutable_data());
  return out;
}

py::array_t<std::int16_t> add_where_i16(const std::string& isa, const py::object& bits,
                                        std::int16_t amount, const py::object& sums) {
  const Span<const std::uint64_t> words = vector_view<std::uint64_t>(bits, "bits");
  const auto before = vector_view<std::int16_t>(sums, "sums", 64 * words.size);
  py::array_t<std::int16_t> out(static_cast<py::ssize_t>(before.size));
  std::copy(before.begin(), before.end(), out.mutable_data());
  find(isa).add_where_i16(words.data, words.size, amount, out.mutable_data());
  return out;
}

py::array_t<std::uint16_t> select_above_i16(const std::string& isa, const py::object& sums,
                                            std::int16_t limit) {
  const Span<const std::int16_t> values = vector_view<std::int16_t>(sums, "sums");
  if (values.size % 32 != 0) {
    throw ShapeError("sums", "a multiple of 32 values", std::to_string(values.size));
  }
  std::vector<std::uint16_t> chosen(values.size);
  chosen.resize(find(isa).select_above_i16(values.data, values.size, limit, chosen.data()));
  return to_numpy(std::move(chosen));
}

py::tuple work_of_faded(const Arena& arena, const Fading& fading, const py::object& query,
                        const py::object& now_us, const py::object& rate, const py::object& k) {
  const Moment moment{checked_integer(now_us, "now_us"), checked_number(rate, "rate")};
  const Selection selection = selection_of(py::none(), py::none(), k);
  const FadedWork work = faded_work(arena, fading, one_query(query), moment, selection);
  return py::make_tuple(work.weighed, work.compared, work.read);
}

py::array_t<std::uint16_t> select_reaching_i16(const std::string& isa, const py::object& sums,
                                               const py::object& values, std::int16_t limit,
                                               float least) {
  const Span<const std::int16_t> some = vector_view<std::int16_t>(sums, "sums");
  const auto rows = vector_view<std::uint16_t>(values, "values", some.size);
  if (some.size % 32 != 0) {
    throw ShapeError("sums", "a multiple of 32 values", std::to_string(some.size));
  }
  std::vector<std::uint16_t> chosen(some.size);
  chosen.resize(
      find(isa).select_reaching_i16(some.data, rows.data, some.size, limit, least, chosen.data()));
  return to_numpy(std::move(chosen));
}

using Function = double (*)(double);

py::array_t<double> each(Function function, const py::object& x) {
  const Span<const double> values = vector_view<double>(x, "x");
  py::array_t<double> out(static_cast<py::ssize_t>(values.size));
  std::transform(values.begin(), values.end(), out.mutable_data(), function);
  return out;
}

py::array_t<double> log_of(const py::object& x) { return each(&ebb::log, x); }

py::array_t<double> exp_of(const py::object& x) { return each(&ebb::exp, x); }

py::array_t<double> pow_of(const py::object& base, const py::object& exponent) {
  const Span<const double> bases = vector_view<double>(base, "base");
  const Span<const double> exponents = vector_view<double>(exponent, "exponent", bases.size);
  py::array_t<double> out(static_cast<py::ssize_t>(bases.size));
  std::transform(bases.begin(), bases.end(), exponents.begin(), out.mutable_data(), &ebb::pow);
  return out;
}

}  // namespace

void bind_testing(py::module_& m) {
  py::module_ testing = m.def_submodule("_testing", "Kernels by instruction set, for tests.");
  testing.def("dot_rows", &dot_rows, py::arg("isa"), py::arg("query"), py::arg("rows"));
  testing.def("add_where_i16", &add_where_i16, py::arg("isa"), py::arg("bits"), py::arg("amount"),
              py::arg("sums"));
  testing.def("select_above_i16", &select_above_i16, py::arg("isa"), py::arg("sums"),
              py::arg("limit"));
  testing.def("faded_work", &work_of_faded, py::arg("arena"), py::arg("fading"), py::arg("query"),
              py::arg("now_us"), py::arg("rate"), py::arg("k"));
  testing.def("select_reaching_i16", &select_reaching_i16, py::arg("isa"), py::arg("sums"),
              py::arg("values"), py::arg("limit"), py::arg("least"));
  testing.attr("ordered_slots") = Fading::kOrderedSlots;
  testing.def("log", &log_of, py::arg("x"));
  testing.def("exp", &exp_of, py::arg("x"));
  testing.def("pow", &pow_of, py::arg("base"), py::arg("exponent"));
  testing.def("exp_f32", &exp_f32, py::arg("isa"), py::arg("x"));
  bind_testing_codes(testing);
  bind_testing_words(testing);
  bind_testing_scan(testing);
}

}  // namespace ebb::bindings
