// What kernel_digest.cpp runs of decay: columns, laws, and the functions below them.
#pragma once

#include <cstdint>

#include "core/kernel_table.h"

namespace decay_digest {

std::uint64_t elapsed(const ebb::KernelTable& kernels);
std::uint64_t slowed_rates(const ebb::KernelTable& kernels);
std::uint64_t grown_stabilities(const ebb::KernelTable& kernels);
std::uint64_t retention(const ebb::KernelTable& kernels);
std::uint64_t float_retention(const ebb::KernelTable& kernels);
std::uint64_t log_weights(const ebb::KernelTable& kernels);
std::uint64_t power(const ebb::KernelTable& kernels);
std::uint64_t elementary(const ebb::KernelTable& kernels);
std::uint64_t laws(const ebb::KernelTable& kernels);

}  // namespace decay_digest
