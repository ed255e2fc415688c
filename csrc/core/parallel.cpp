#include "core/parallel.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace ebb {

namespace {

// Threads that are waited for on every way out.
class Crew {
 public:
  explicit Crew(std::size_t most) { threads_.reserve(most); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns whether a thread could be had.
  template <typename Work>
  bool start(Work work) {
    try {
      threads_.emplace_back(work);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

void for_parts(std::size_t count, std::size_t threads, const std::function<void(Part)>& work) {
  const std::size_t parts = std::min(count, std::max<std::size_t>(threads, 1));
  if (parts == 1) return work({0, count});
  std::vector<std::exception_ptr> thrown(parts);
  // Part p begins where p * count / parts does, without the product, which might overflow.
  const auto begin = [&](std::size_t p) {
    return p * (count / parts) + std::min(p, count % parts);
  };
  const auto run = [&](std::size_t p) noexcept {
    try {
      work({begin(p), begin(p + 1)});
    } catch (...) {
      thrown[p] = std::current_exception();
    }
  };
  {
    Crew crew(parts);
    std::size_t own = parts;  // parts below this are the caller's
    while (own > 1 && crew.start([&run, p = own - 1] { run(p); })) --own;
    for (std::size_t p = 0; p < own; ++p) run(p);
  }
  for (const std::exception_ptr& exception : thrown) {
    if (exception != nullptr) std::rethrow_exception(exception);
  }
}

}  // namespace ebb
