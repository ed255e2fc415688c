#include <pybind11/pybind11.h>

#include "bindings/numpy_views.h"
#include "bindings/spread_arguments.h"
#include "bindings/topics.h"
#include "core/spread.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// Calls visit with a view of A or of B, whichever `object` holds.
template <typename A, typename B, typename Visit>
auto visit_vector(const py::object& object, const std::string& argument, Visit visit) {
  if (is_array_of<A>(object)) return visit(vector_view<A>(object, argument));
  if (is_array_of<B>(object)) return visit(vector_view<B>(object, argument));
  raise_neither<A, B>(object, argument);
}

// Calls visit with the matrix, read where it lies.
template <typename Visit>
auto visit_csr(const py::object& indptr, const py::object& indices, const py::object& weights,
               Visit visit) {
  return visit_vector<std::int32_t, std::int64_t>(indptr, "indptr", [&](auto offsets) {
    return visit_vector<std::int32_t, std::int64_t>(indices, "indices", [&](auto targets) {
      return visit_vector<float, double>(weights, "weights", [&](auto values) {
        return visit(CsrView(offsets, targets, values));
      });
    });
  });
}

void check_csr(const py::object& indptr, const py::object& indices, const py::object& weights) {
  visit_csr(indptr, indices, weights, [](const Adjacency& graph) {
    py::gil_scoped_release nogil;
    graph.validate();
  });
}

py::tuple spread_from(const py::object& indptr, const py::object& indices,
                      const py::object& weights, const py::object& seeds,
                      const py::object& seed_activation, const py::object& mask, int depth,
                      double hop_decay, double threshold, std::int64_t fan_cap,
                      std::int64_t node_cap, bool fan_normalise, bool seeds_receive,
                      ScratchPool* scratches) {
  const SpreadRules rules =
      rules_of(depth, hop_decay, threshold, fan_cap, node_cap, fan_normalise, seeds_receive);
  Activation out = visit_csr(indptr, indices, weights, [&](const Adjacency& graph) {
    const Seeds from = seeds_of(seeds, seed_activation, mask, graph.nodes());
    py::gil_scoped_release nogil;
    if (scratches != nullptr) return spread(graph, from, rules, *ScratchPool::Loan(*scratches));
    graph.validate();
    SpreadScratch scratch;
    return spread(graph, from, rules, scratch);
  });
  return to_tuple(std::move(out));
}

}  // namespace

void bind_spread(py::module_& m) {
  py::class_<ScratchPool>(
      m, "ScratchPool", "What spreading over one matrix writes to; who gives it has checked that.")
      .def(py::init<>())
      .def_property_readonly("bytes", &ScratchPool::bytes, "Memory held, in bytes.");
  m.def("check_csr", &check_csr, py::arg("indptr"), py::arg("indices"), py::arg("weights"),
        "Raise unless the arrays form a square matrix in compressed rows with finite weights.");
  m.def("spread", &spread_from, py::arg("indptr"), py::arg("indices"), py::arg("weights"),
        py::arg("seeds"), py::arg("seed_activation"), py::arg("mask"), py::arg("depth"),
        py::arg("hop_decay"), py::arg("threshold"), py::arg("fan_cap"), py::arg("node_cap"),
        py::arg("fan_normalise"), py::arg("seeds_receive"), py::arg("scratches") = py::none(),
        "Return nodes, activation, parent and hop of what the seeds reach, most activated first.");
}

}  // namespace ebb::bindings
