// One function per topic: each adds its names to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace ebb::bindings {

void bind_errors(pybind11::module_& m);
void bind_workers(pybind11::module_& m);
void bind_cpu(pybind11::module_& m);
void bind_texts(pybind11::module_& m);
void bind_lexicon(pybind11::module_& m);
void bind_arena(pybind11::module_& m);
void bind_scan(pybind11::module_& m);
void bind_decay(pybind11::module_& m);
void bind_reinforcement(pybind11::module_& m);
void bind_fading(pybind11::module_& m);
void bind_postings(pybind11::module_& m);
void bind_words(pybind11::module_& m);
void bind_products(pybind11::module_& m);
void bind_spread(pybind11::module_& m);
void bind_links(pybind11::module_& m);
void bind_bounded(pybind11::module_& m);
void bind_searches(pybind11::module_& m);
void bind_values(pybind11::module_& m);
void bind_page_writes(pybind11::module_& m);
void bind_log_index(pybind11::module_& m);
void bind_testing(pybind11::module_& m);
void bind_testing_codes(pybind11::module_& testing);
void bind_testing_words(pybind11::module_& testing);
void bind_testing_scan(pybind11::module_& testing);
// For the classes that the module has by then.
void bind_unmade(pybind11::module_& m);

}  // namespace ebb::bindings
