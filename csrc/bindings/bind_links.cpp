#include <pybind11/pybind11.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/released.h"
#include "bindings/spread_arguments.h"
#include "bindings/topics.h"
#include "core/link_graph.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::unique_ptr<LinkGraph> make_graph(const py::object& carries) {
  const auto kinds = vector_view<Truth>(carries, "carries");
  return std::make_unique<LinkGraph>(std::vector<bool>(kinds.begin(), kinds.end()));
}

void add(LinkGraph& graph, const py::object& source, const py::object& target, std::uint8_t kind,
         const py::object& weight) {
  const std::int64_t from = checked_slot(source, "source"), to = checked_slot(target, "target");
  const float amount = checked_float32(weight, "weight");
  released([&] { graph.add({{&from, 1}, {&to, 1}, {&kind, 1}, {&amount, 1}}, true); });
}

// Links as they are when the call begins.
class CopiedLinks {
 public:
  CopiedLinks(const py::object& sources, const py::object& targets, const py::object& kinds,
              const py::object& weights)
      : sources_(sources, "sources"),
        targets_(targets, "targets"),
        kinds_(kinds, "kinds"),
        weights_(weights, "weights") {}

  LinkColumns columns() const { return {sources_, targets_, kinds_, weights_}; }

 private:
  CopiedSlots sources_;
  CopiedSlots targets_;
  Copied<std::uint8_t> kinds_;
  Copied<float> weights_;
};

void add_many(LinkGraph& graph, const py::object& sources, const py::object& targets,
              const py::object& kinds, const py::object& weights) {
  const CopiedLinks links(sources, targets, kinds, weights);
  released([&] { graph.add(links.columns()); });
}

void replace(LinkGraph& graph, const py::object& slots, const py::object& sources,
             const py::object& targets, const py::object& kinds, const py::object& weights) {
  const CopiedSlots nodes(slots, "slots");
  const CopiedLinks links(sources, targets, kinds, weights);
  released([&] { graph.replace(nodes, links.columns()); });
}

std::size_t drop_nodes(LinkGraph& graph, const py::object& slots) {
  const CopiedSlots gone(slots, "slots");
  return released([&] { return graph.drop_nodes(gone); });
}

void remap(LinkGraph& graph, const py::object& old_to_new) {
  const CopiedSlots numbers(old_to_new, "old_to_new");
  released([&] { graph.remap(numbers); });
}

py::list links(const LinkGraph& graph, const py::object& slot) {
  const std::int64_t from = checked_slot(slot, "slot");
  py::list out;
  for (const Link& link : released([&] { return graph.links(from); })) {
    out.append(py::make_tuple(link.target, link.kind, link.weight));
  }
  return out;
}

py::tuple matrix(const LinkGraph& graph, const py::object& size) {
  const std::size_t nodes = checked_count(size, "size", 0);
  LinkGraph::Matrix out = released([&] { return graph.matrix(nodes); });
  return py::make_tuple(out.version, to_numpy(std::move(out.indptr)),
                        to_numpy(std::move(out.indices)), to_numpy(std::move(out.weights)));
}

py::tuple spread_links(const LinkGraph& graph, const py::object& size, const py::object& seeds,
                       const py::object& seed_activation, const py::object& mask, int depth,
                       double hop_decay, double threshold, std::int64_t fan_cap,
                       std::int64_t node_cap, bool fan_normalise, bool seeds_receive) {
  const std::size_t nodes = checked_count(size, "size", 0);
  const Seeds from = seeds_of(seeds, seed_activation, mask, nodes);
  const SpreadRules rules =
      rules_of(depth, hop_decay, threshold, fan_cap, node_cap, fan_normalise, seeds_receive);
  return to_tuple(released([&] { return graph.spread(nodes, from, rules); }));
}

}  // namespace

void bind_links(py::module_& m) {
  py::class_<LinkGraph>(m, "LinkGraph", "The typed, weighted, directed links of one scope.")
      .def(py::init(&make_graph), py::arg("carries"))
      .def("add", &add, py::arg("source"), py::arg("target"), py::arg("kind"), py::arg("weight"),
           "Add one link.")
      .def("add_many", &add_many, py::arg("sources"), py::arg("targets"), py::arg("kinds"),
           py::arg("weights"), "Add one link per entry, in order; all or nothing.")
      .def("replace", &replace, py::arg("slots"), py::arg("sources"), py::arg("targets"),
           py::arg("kinds"), py::arg("weights"),
           "Let the links that leave some slots be these, in order; all or nothing.")
      .def("drop_nodes", &drop_nodes, py::arg("slots"),
           "Take away every link that leaves or reaches a slot and return how many.")
      .def("remap", &remap, py::arg("old_to_new"),
           "Renumber the slots; links of slots that become -1 go.")
      .def("__len__", [](const LinkGraph& self) { return released([&] { return self.size(); }); })
      .def_property_readonly(
          "bytes", [](const LinkGraph& self) { return released([&] { return self.bytes(); }); },
          "Memory held, in bytes.")
      .def_property_readonly(
          "version", [](const LinkGraph& self) { return released([&] { return self.version(); }); },
          "A number that grows with every change.")
      .def("links", &links, py::arg("slot"),
           "Return target, kind and weight of each link that leaves a slot, as they were added.")
      .def("matrix", &matrix, py::arg("size"),
           "Return the version and the rows: indptr, indices, weights, in order of addition.")
      .def("spread", &spread_links, py::arg("size"), py::arg("seeds"), py::arg("seed_activation"),
           py::arg("mask"), py::arg("depth"), py::arg("hop_decay"), py::arg("threshold"),
           py::arg("fan_cap"), py::arg("node_cap"), py::arg("fan_normalise"),
           py::arg("seeds_receive"),
           "Return nodes, activation, parent and hop of what the seeds reach, as spread() does.");
}

}  // namespace ebb::bindings
