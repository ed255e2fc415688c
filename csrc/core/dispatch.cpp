#include "core/dispatch.h"

#include <atomic>

#include "core/cpu.h"
#include "core/errors.h"

namespace ebb {

// Core never includes kernels/: each table is defined by one kernels_<isa>.cpp.
extern const KernelTable kScalarTable;
#if defined(EBB_HAS_X86_TABLES)
extern const KernelTable kAvx2Table;
extern const KernelTable kAvx512Table;
extern const KernelTable kAvx512VnniTable;
#endif
#if defined(EBB_HAS_AVXVNNI_TABLE)
extern const KernelTable kAvxVnniTable;
#endif
#if defined(EBB_HAS_NEON_TABLE)
extern const KernelTable kNeonTable;
#endif

namespace {

std::atomic<const KernelTable*> g_active{nullptr};

// In priority order: the first that the processor supports wins.
std::vector<const KernelTable*> supported() {
  const CpuFeatures cpu = detect_cpu();
  std::vector<const KernelTable*> tables;
#ifdef EBB_HAS_X86_TABLES
  if (cpu.avx512vnni) tables.push_back(&kAvx512VnniTable);
  if (cpu.avx512) tables.push_back(&kAvx512Table);
#endif
#ifdef EBB_HAS_AVXVNNI_TABLE
  if (cpu.avxvnni) tables.push_back(&kAvxVnniTable);
#endif
#ifdef EBB_HAS_X86_TABLES
  if (cpu.avx2) tables.push_back(&kAvx2Table);
#endif
#ifdef EBB_HAS_NEON_TABLE
  tables.push_back(&kNeonTable);
#endif
  (void)cpu;
  tables.push_back(&kScalarTable);
  return tables;
}

}  // namespace

const KernelTable& active() { return *g_active.load(std::memory_order_acquire); }

void choose(const std::string& name) {
  const KernelTable* table = name.empty() ? supported().front() : &find(name);
  g_active.store(table, std::memory_order_release);
}

const KernelTable& find(const std::string& name) {
  std::string valid;
  for (const KernelTable* table : supported()) {
    if (name == table->name) return *table;
    valid += valid.empty() ? "" : ", ";
    valid += table->name;
  }
  throw UnknownIsa("EBBMEM_ISA: expected one of " + valid + " on this machine, got '" + name + "'");
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const KernelTable* table : supported()) result.emplace_back(table->name);
  return result;
}

}  // namespace ebb
