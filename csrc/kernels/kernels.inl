// Every kernel of one instruction set, and the table of them. Included inside its region, after
// its vector types: a new kernel is one more line here and one in core/kernel_table.h.

#include "kernels/codes.inl"
#include "kernels/dot.inl"
#include "kernels/exp.inl"
#include "kernels/sums.inl"

constexpr KernelTable table(const char* name) {
  return {name,         dot_rows_f32,    exp_f32,       row_extent_f32,  quantise_row_i8,
          dot_codes_i8, dot_codes_at_i8, add_where_i16, select_above_i16};
}
