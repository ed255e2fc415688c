// Every kernel of every table that this processor runs, and what the core makes of numbers with
// them, on inputs that are the same everywhere.
//
// Prints which table would be picked and one line "<isa> <kernel> <digest of all outputs>" per
// kernel and table, and ends with 1 where two tables differ. It needs csrc/core and csrc/kernels
// alone, so it can be built for another processor and run there or in an emulator:
//
//   c++ -std=c++17 -O2 -ffp-contract=off -Icsrc tests/native/{kernel,decay}_digest.cpp
//       csrc/kernels/*.cpp csrc/core/{cpu,decay,dispatch,elementary,md5}.cpp
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch.h"
#include "decay_digest.h"
#include "digest.h"

namespace {

using ebb::KernelTable;

std::uint64_t dot_rows(const KernelTable& kernels) {
  Random random(1);
  Digest digest;
  for (const std::size_t count : kCounts) {
    for (const std::size_t dim : {16, 48, 384}) {
      const std::vector<float> query = random.wide_floats(dim);
      const std::vector<float> rows = random.wide_floats(count * dim);
      std::vector<float> out(count);
      kernels.dot_rows(query.data(), rows.data(), dim, count, dim, out.data());
      digest.take(out);
    }
  }
  return digest.value();
}

std::uint64_t exp_f32(const KernelTable& kernels) {
  Random random(2);
  Digest digest;
  for (const std::size_t count : kCounts) {
    for (const double low : {-1e-3, -1.0, -87.0, -100.0}) {
      std::vector<float> x = random.floats(count, low, 0.0);
      kernels.exp_f32(x.data(), count, x.data());
      digest.take(x);
    }
  }
  return digest.value();
}

std::uint64_t row_extent(const KernelTable& kernels) {
  Random random(3);
  Digest digest;
  for (const std::size_t dim : {16, 48, 1024}) {
    std::vector<float> row = random.wide_floats(dim);
    row[dim / 2] = 0.0F;
    const ebb::RowExtent extent = kernels.row_extent(row.data(), dim);
    digest.take(std::vector<float>{extent.largest, extent.smallest, extent.squares});
  }
  return digest.value();
}

std::uint64_t quantise_row(const KernelTable& kernels) {
  Random random(4);
  Digest digest;
  for (const std::size_t dim : {16, 48, 1024}) {
    const std::vector<float> row = random.floats(dim, -1.0, 1.0);
    std::vector<std::int8_t> codes(dim);
    digest.take(std::vector<float>{
        kernels.quantise_row(row.data(), dim, 127.0F, 1.0F / 127.0F, codes.data())});
    digest.take(codes);
  }
  return digest.value();
}

std::vector<std::int8_t> random_codes(Random& random, std::size_t count) {
  std::vector<std::int8_t> codes(count);
  for (std::int8_t& code : codes) {
    code = static_cast<std::int8_t>(static_cast<int>(random.bits() % 255) - 127);
  }
  return codes;
}

std::uint64_t dot_codes(const KernelTable& kernels) {
  Random random(5);
  Digest digest;
  for (const std::size_t count : kCounts) {
    for (const std::size_t dim : {32, 96, 1024}) {
      const std::vector<std::int8_t> query = random_codes(random, dim);
      const std::vector<std::int8_t> rows = random_codes(random, count * dim);
      std::vector<std::int32_t> out(count);
      kernels.dot_codes(query.data(), rows.data(), dim, count, dim, out.data());
      digest.take(out);
    }
  }
  return digest.value();
}

std::uint64_t dot_codes_at(const KernelTable& kernels) {
  Random random(6);
  Digest digest;
  for (const std::size_t count : kCounts) {
    const std::vector<std::int8_t> query = random_codes(random, 96);
    const std::vector<std::int8_t> rows = random_codes(random, (count + 1) * 96);
    std::vector<const std::int8_t*> places(count);
    for (const std::int8_t*& place : places) place = &rows[random.bits() % count * 96];
    std::vector<std::int32_t> out(count);
    kernels.dot_codes_at(query.data(), places.data(), count, 96, out.data());
    digest.take(out);
  }
  return digest.value();
}

std::uint64_t add_where(const KernelTable& kernels) {
  Random random(7);
  Digest digest;
  for (const std::size_t words : {0, 1, 2, 16}) {
    std::vector<std::uint64_t> bits(words);
    for (std::uint64_t& word : bits) word = random.bits();
    std::vector<std::int16_t> sums(64 * words);
    for (std::int16_t& sum : sums) sum = static_cast<std::int16_t>(random.bits());
    kernels.add_where_i16(bits.data(), words, std::int16_t{12345}, sums.data());
    digest.take(sums);
  }
  return digest.value();
}

std::uint64_t select_above(const KernelTable& kernels) {
  Random random(8);
  Digest digest;
  for (const std::size_t count : {0, 32, 64, 8192}) {
    for (const std::int16_t limit : {-32768, 0, 32000, 32767}) {
      std::vector<std::int16_t> sums(count);
      for (std::int16_t& sum : sums) sum = static_cast<std::int16_t>(random.bits());
      std::vector<std::uint16_t> out(count);
      out.resize(kernels.select_above_i16(sums.data(), count, limit, out.data()));
      digest.take(out);
    }
  }
  return digest.value();
}

std::uint64_t select_reaching(const KernelTable& kernels) {
  Random random(21);
  Digest digest;
  for (const std::size_t count : {0, 32, 64, 8192}) {
    for (const float least : {0.0F, 0.75F, 3e4F}) {
      std::vector<std::int16_t> sums(count);
      std::vector<std::uint16_t> values(count);
      for (std::int16_t& sum : sums) sum = static_cast<std::int16_t>(random.bits());
      for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(random.bits());
      std::vector<std::uint16_t> out(count);
      out.resize(
          kernels.select_reaching_i16(sums.data(), values.data(), count, 100, least, out.data()));
      digest.take(out);
    }
  }
  return digest.value();
}

std::uint64_t md5_short(const KernelTable& kernels) {
  Random random(9);
  Digest digest;
  std::vector<char> bytes(4096);
  for (char& byte : bytes) byte = static_cast<char>(random.bits());
  for (const std::size_t count : kCounts) {
    std::vector<ebb::Span<const char>> words(count);
    for (std::size_t i = 0; i < count; ++i) {
      words[i] = {&bytes[random.bits() % 4000], i % (ebb::kShortWord + 1)};
    }
    std::vector<ebb::Md5> digests(count);
    kernels.md5_short(words.data(), count, digests.data());
    for (const ebb::Md5& one : digests) digest.take(std::vector<std::uint64_t>{one.high, one.low});
  }
  return digest.value();
}

std::uint64_t ascii_members(const KernelTable& kernels) {
  Random random(16);
  Digest digest;
  std::vector<std::uint64_t> out;
  for (std::size_t count = 0; count <= 64; ++count) {
    std::vector<unsigned char> rows(16);
    for (unsigned char& row : rows) row = static_cast<unsigned char>(random.bits());
    std::vector<char> bytes(count);
    for (char& byte : bytes) byte = static_cast<char>(random.bits() % 128);
    out.push_back(kernels.ascii_members(bytes.data(), count, rows.data()));
  }
  digest.take(out);
  return digest.value();
}

std::uint64_t dot_tile(const KernelTable& kernels) {
  Random random(17);
  Digest digest;
  for (const std::size_t count : {1, 2, 4, 33}) {
    for (const std::size_t dim : {32, 96, 1024}) {
      std::vector<std::int8_t> panel = random_codes(random, 16 * dim);
      for (std::int8_t& code : panel) code = static_cast<std::int8_t>(code / 8);
      const std::vector<std::int8_t> rows = random_codes(random, count * dim);
      const std::size_t stride = (count + 3) / 4 * 4;
      std::vector<std::int32_t> tile(16 * stride);
      kernels.dot_tile(panel.data(), rows.data(), dim, count, dim, tile.data(), stride);
      for (std::size_t q = 0; q < 16; ++q) {
        const auto first = tile.begin() + static_cast<std::ptrdiff_t>(q * stride);
        digest.take(std::vector<std::int32_t>(first, first + static_cast<std::ptrdiff_t>(count)));
      }
    }
  }
  return digest.value();
}

std::uint64_t reach(const KernelTable& kernels) {
  Random random(18);
  Digest digest;
  for (const std::size_t count : kCounts) {
    std::vector<std::int32_t> dots(count);
    for (std::int32_t& dot : dots) dot = static_cast<std::int32_t>(random.bits() >> 44) - (1 << 19);
    const std::vector<float> scale = random.floats(count, 0.0, 1e-6);
    const std::vector<float> error = random.floats(count, 0.0, 0.1);
    const std::vector<float> norm = random.floats(count, 0.0, 2.0);
    const std::vector<float> weight = random.floats(count, 0.0, 2.0);
    const std::vector<float> offset = random.floats(count, -1.0, 1.0);
    for (const float* const weights : {static_cast<const float*>(nullptr), weight.data()}) {
      const ebb::ReachRows rows = {scale.data(), error.data(), norm.data(), weights, offset.data()};
      std::vector<std::uint16_t> bits((count + 15) / 16);
      kernels.reach(dots.data(), rows, {1.0F, 0.05F, 1.0F, 0.1F}, count, bits.data());
      digest.take(bits);
    }
  }
  return digest.value();
}

using Run = std::uint64_t (*)(const KernelTable&);
constexpr std::pair<const char*, Run> kRuns[] = {
    {"dot_rows", &dot_rows},
    {"exp_f32", &exp_f32},
    {"row_extent", &row_extent},
    {"quantise_row", &quantise_row},
    {"dot_codes", &dot_codes},
    {"dot_codes_at", &dot_codes_at},
    {"add_where", &add_where},
    {"select_above", &select_above},
    {"select_reaching", &select_reaching},
    {"md5_short", &md5_short},
    {"ascii_members", &ascii_members},
    {"dot_tile", &dot_tile},
    {"reach", &reach},
    {"elapsed", &decay_digest::elapsed},
    {"slowed_rates", &decay_digest::slowed_rates},
    {"grown_stabilities", &decay_digest::grown_stabilities},
    {"retention", &decay_digest::retention},
    {"float_retention", &decay_digest::float_retention},
    {"log_weights", &decay_digest::log_weights},
    {"power", &decay_digest::power},
    {"elementary", &decay_digest::elementary},
    {"laws", &decay_digest::laws},
};

}  // namespace

int main() {
  ebb::choose("");
  std::printf("picked %s\n", ebb::active().name);
  bool equal = true;
  for (const auto& [kernel, run] : kRuns) {
    const std::uint64_t scalar = run(ebb::find("scalar"));
    for (const std::string& isa : ebb::names()) {
      const std::uint64_t digest = run(ebb::find(isa));
      std::printf("%s %s %016llx\n", isa.c_str(), kernel, static_cast<unsigned long long>(digest));
      equal = equal && digest == scalar;
    }
  }
  if (!equal) std::puts("the tables differ");
  return equal ? 0 : 1;
}
