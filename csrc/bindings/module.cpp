// ebbmem._core: names its parts; each part lives in bind_<topic>.cpp.
#include <pybind11/pybind11.h>

#include "bindings/scope_load_topic.h"
#include "bindings/topics.h"
#include "core/dispatch.h"

PYBIND11_MODULE(_core, m) {
  using namespace ebb::bindings;
  m.doc() = "Native core of ebbmem: embedding, arena, scan, decay, postings, links, spreading.";
  m.attr("__version__") = EBB_VERSION;
  bind_errors(m);
  ebb::choose("");
  bind_cpu(m);
  bind_workers(m);
  bind_texts(m);
  bind_lexicon(m);
  bind_arena(m);
  bind_scan(m);
  bind_decay(m);
  bind_reinforcement(m);
  bind_fading(m);
  bind_postings(m);
  bind_words(m);
  bind_products(m);
  bind_spread(m);
  bind_links(m);
  bind_bounded(m);
  bind_scope_load(m);
  bind_row_seals(m);
  bind_searches(m);
  bind_values(m);
  bind_page_writes(m);
  bind_log_index(m);
  bind_testing(m);
  bind_unmade(m);
}
