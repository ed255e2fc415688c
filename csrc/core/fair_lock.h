// A shared mutex under which a writer is not starved by a stream of overlapping readers: from
// the moment it asks, new readers wait behind it.
//
// For use with std::shared_lock and std::unique_lock. A thread never takes it twice.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace ebb {

class FairLock {
 public:
  void lock() {
    const std::lock_guard<std::mutex> turn(gate_);
    lock_.lock();
  }
  void unlock() { lock_.unlock(); }

  void lock_shared() {
    const std::lock_guard<std::mutex> turn(gate_);
    lock_.lock_shared();
  }
  void unlock_shared() { lock_.unlock_shared(); }

 private:
  std::mutex gate_;
  std::shared_mutex lock_;
};

}  // namespace ebb
