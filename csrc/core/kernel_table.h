// The contract between core and kernels: one table of functions per instruction set.
//
// Every function gives the same bits on every table: 16 float lanes, one reduction tree
// (lane l + lane l+8, then +4, +2, +1), no fused multiply-add.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/md5.h"
#include "core/span.h"

// The tables that this compiler makes for this architecture, beside the scalar one.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define EBB_HAS_X86_TABLES 1
// Compilers older than these do not know the instructions.
#if (defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11)
#define EBB_HAS_AVXVNNI_TABLE 1
#endif
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
#define EBB_HAS_NEON_TABLE 1
#endif

namespace ebb {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kCodeLanes = 32;

// Largest and least non-zero magnitude of a row's values (0 and the largest float when all are
// zero) and the sum of their squares.
struct RowExtent {
  float largest;
  float smallest;
  float squares;
};

// The longest word that fits one vector register together with the mark that ends it.
constexpr std::size_t kShortWord = 15;

// rate * (1 - by_strength * strength) * (1 - by_intensity * intensity).
struct Slowing {
  double rate;
  double by_strength;
  double by_intensity;
};

// (1 + factor * t)^-exponent.
struct PowerLaw {
  double factor;
  double exponent;
};

// Coded rows as a scan ranks them: the parts of their bounds (core/codes.h), and what a dot is
// multiplied by and then added to. Without weights: by 1, and nothing.
struct ReachRows {
  const float* scale;
  const float* error;
  const float* norm;
  const float* weight;  // null, or at least 0 and finite
  const float* offset;
};

struct ReachQuery {
  float scale;
  float error;
  float norm;
  float floor;
};

struct KernelTable {
  const char* name;

  // out[i] = dot(query, rows + i * stride) for i < count, over `padded_dim` floats.
  // `padded_dim` is a multiple of kLanes; padding holds zeros. No alignment needed.
  // Bit-equal family.
  void (*dot_rows)(const float* query, const float* rows, std::size_t stride, std::size_t count,
                   std::size_t padded_dim, float* out);

  // out[i] = exp(x[i]) for x in [-87, 0], at most 1 ulp from the true value; below -87 the
  // result is 0, above 0 it is that of 0. `out` may be `x`. Bit-equal family.
  void (*exp_f32)(const float* x, std::size_t count, float* out);

  // The squares are summed as dot_rows sums; when one of the values is not finite, so is their
  // sum, and the magnitudes mean nothing. Bit-equal family.
  RowExtent (*row_extent)(const float* row, std::size_t padded_dim);

  // codes[i] = row[i] * inverse, which must lie in [-127.49, 127.49], rounded to the nearest
  // integer, halves to even. Returns the sum of the squares of row[i] - scale * codes[i].
  // Bit-equal family.
  float (*quantise_row)(const float* row, std::size_t padded_dim, float inverse, float scale,
                        std::int8_t* codes);

  // out[i] = dot(query, rows + i * stride) for i < count, over `code_dim` codes in [-127, 127].
  // `code_dim` is a multiple of kCodeLanes, at most 2^16; padding holds zeros. Exact family.
  void (*dot_codes)(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
                    std::size_t count, std::size_t code_dim, std::int32_t* out);

  // The same for rows that lie anywhere; the memory of later ones is asked for ahead.
  void (*dot_codes_at)(const std::int8_t* query, const std::int8_t* const* rows, std::size_t count,
                       std::size_t code_dim, std::int32_t* out);

  // sums[i] += amount, modulo 2^16, where bit i (of word i / 64) is set, for i < 64 * words.
  // No alignment needed. Exact family.
  void (*add_where_i16)(const std::uint64_t* bits, std::size_t words, std::int16_t amount,
                        std::int16_t* sums);

  // Writes the i < count with sums[i] > limit, ascending, and returns how many. `count` is a
  // multiple of 32 and at most 2^16; `out` has room for all. No alignment needed. Exact family.
  std::size_t (*select_above_i16)(const std::int16_t* sums, std::size_t count, std::int16_t limit,
                                  std::uint16_t* out);

  // The same for the i whose sums[i], in addition, has a square of at least least * values[i], the
  // three products rounded to float. `limit` is at least 0. Bit-equal family.
  std::size_t (*select_reaching_i16)(const std::int16_t* sums, const std::uint16_t* values,
                                     std::size_t count, std::int16_t limit, float least,
                                     std::uint16_t* out);

  // digests[i] = the MD5 of words[i] for i < count, where the word has at most kShortWord bytes;
  // what is written for a longer one means nothing. May read up to 16 bytes from the beginning of
  // a word, but never beyond a page of memory that the word itself reaches. Bit-equal family.
  void (*md5_short)(const Span<const char>* words, std::size_t count, Md5* digests);

  // Columns of decay. `count` is a multiple of kLanes; arrays do not overlap. Those that return a
  // truth value say whether all values were finite and (rates, importances, stabilities) at least
  // 0; where they say no, the caller looks again: a sum that overflows or a -0 is in doubt, too.
  // Bit-equal family.

  // out[i] = max(now - since[i], 0) / unit, the difference modulo 2^64, rounded twice.
  void (*elapsed)(const std::int64_t* since, std::int64_t now, double unit, std::size_t count,
                  double* out);

  // out[i] = rate * ((1 - by_strength * strength[i]) * (1 - by_intensity * intensity[i])).
  void (*slowed_rates)(const double* strength, const double* intensity, const Slowing& law,
                       std::size_t count, double* out);

  // out[i] = stability * ((1 + 2 * strength[i]) * (1 + 2 * intensity[i])) *
  //          (1 + 2 * ((importance[i] - 1) / 9)).
  void (*grown_stabilities)(const double* importance, const double* strength,
                            const double* intensity, double stability, std::size_t count,
                            double* out);

  // out[i] = anchor[i] * exp(-rate[i] * max(idle[i], 0)), within 2 ulp down to e^-87, 0 below.
  bool (*retention)(const double* anchor, const double* idle, const double* rate, std::size_t count,
                    float* out);

  // The same for floats: within 2 ulp of the real value for them, 0 where rate[i] * max(idle[i],
  // 0), rounded to float, is above 87.
  bool (*float_retention)(const float* anchor, const float* idle, const float* rate,
                          std::size_t count, float* out);

  // out[i] = ln(importance[i]) - rate * max(age[i], 0), with the bits of ebb::log.
  bool (*log_weights)(const double* importance, const double* age, double rate, std::size_t count,
                      double* out);

  // out[i] = (1 + factor * max(elapsed[i], 0) / stability[i])^-exponent, with the bits of
  // ebb::pow. A stability of 0 is told, too; where the base overflows (told as well), the result
  // means nothing.
  bool (*power)(const double* elapsed, const double* stability, const PowerLaw& law,
                std::size_t count, double* out);

  // Bit i of the result says whether bytes[i] is in a set, for i < count <= 64; the others are 0.
  // The bytes are ASCII; bit h of rows[l], of 16 rows, says that byte 16 h + l is in. Exact.
  std::uint64_t (*ascii_members)(const char* bytes, std::size_t count, const unsigned char* rows);

  // Dots of 16 queries with each row: out[q * out_stride + i] for q < 16, i < count. Code d of
  // query q is panel[(d / 4 * 16 + q) * 4 + d % 4]; of every 16 of its codes, the 8 with d % 4 < 2
  // add up in magnitude to at most tile_limit, and so do the others. Otherwise as dot_codes.
  // `count` is at least 1; out_stride is at least count rounded up to a multiple of 4, as far as
  // which out is written. Exact family.
  void (*dot_tile)(const std::int8_t* panel, const std::int8_t* rows, std::size_t stride,
                   std::size_t count, std::size_t code_dim, std::int32_t* out,
                   std::size_t out_stride);

  // What this table's sums of 16 bits, where it has some, allow: at least 128.
  int tile_limit;

  // Bit i % 16 of bits[i / 16] is cleared when row i < count cannot reach the floor: when
  // weight * upper + offset < floor, where upper = dots[i] * rows.scale * query.scale +
  // (rows.error * query.norm + rows.norm * query.error), clamped to [-1, 1]. NaN clears no bit.
  // Bits beyond count are cleared. Bit-equal family.
  void (*reach)(const std::int32_t* dots, const ReachRows& rows, const ReachQuery& query,
                std::size_t count, std::uint16_t* bits);
};

}  // namespace ebb
