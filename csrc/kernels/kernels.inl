// Every kernel of one instruction set, and the table of them. Included inside its region, after
// its vector types: a new kernel is one more line here and one in core/kernel_table.h.

#include "core/elementary.inl"

#include "kernels/codes.inl"
#include "kernels/dot.inl"
#include "kernels/exp.inl"
#include "kernels/md5_lanes.inl"
#include "kernels/members.inl"
#include "kernels/reach.inl"
#include "kernels/sums.inl"
#include "kernels/tile.inl"
// After exp_f32 and its chunks, which they use.
#include "kernels/decay.inl"
#include "kernels/float_retention.inl"

constexpr KernelTable table(const char* name) {
  KernelTable table{};
  table.name = name;
  table.dot_rows = dot_rows_f32;
  table.exp_f32 = exp_f32;
  table.row_extent = row_extent_f32;
  table.quantise_row = quantise_row_i8;
  table.dot_codes = dot_codes_i8;
  table.dot_codes_at = dot_codes_at_i8;
  table.dot_tile = dot_tile_i8;
  table.tile_limit = kTileLimit;
  table.reach = reach_f32;
  table.add_where_i16 = add_where_i16;
  table.select_above_i16 = select_above_i16;
  table.select_reaching_i16 = select_reaching_i16;
  table.md5_short = md5_short;
  table.elapsed = elapsed_f64;
  table.slowed_rates = slowed_rates_f64;
  table.grown_stabilities = grown_stabilities_f64;
  table.retention = retention_f64;
  table.float_retention = retention_f32;
  table.log_weights = log_weights_f64;
  table.power = power_f64;
  table.ascii_members = ascii_members;
  return table;
}
