#include <cstddef>
#include <cstring>

#include "core/kernel_table.h"

namespace ebb {
namespace scalar {
namespace {
#include "kernels/vec_scalar.h"

#include "kernels/dot.inl"
#include "kernels/exp.inl"
}  // namespace
}  // namespace scalar

extern const KernelTable kScalarTable;
const KernelTable kScalarTable = {"scalar", scalar::dot_rows_f32, scalar::exp_f32};

}  // namespace ebb
