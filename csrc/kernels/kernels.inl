// Every kernel of one instruction set, and the table of them. Included inside its region, after
// its vector types: a new kernel is one more line here and one in core/kernel_table.h.

#include "kernels/dot.inl"
#include "kernels/exp.inl"

constexpr KernelTable table(const char* name) { return {name, dot_rows_f32, exp_f32}; }
