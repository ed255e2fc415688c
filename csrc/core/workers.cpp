#include "core/workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <signal.h>
#endif

namespace ebb {

namespace {

using Work = std::function<void(std::size_t)>;

// A thread inherits what its maker blocks: for as long as this lives, every signal but those of its
// own faults, which would end the process past any handler.
class SignalsBlocked {
 public:
#if defined(__unix__) || defined(__APPLE__)
  SignalsBlocked() {
    sigset_t every;
    sigfillset(&every);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&every, fault);
    pthread_sigmask(SIG_SETMASK, &every, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
#else
  SignalsBlocked() {}
#endif
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

#if defined(__unix__) || defined(__APPLE__)
 private:
  sigset_t before_;
#endif
};

// One call's work, on its caller's stack.
class Job {
 public:
  Job(std::size_t count, std::size_t helpers, const Work& work)
      : wanted(helpers), count_(count), first_thrown_(count), work_(work) {}

  // Does parts until none is left to begin.
  void do_parts() noexcept {
    while (!stopped_.load(std::memory_order_relaxed)) {
      const std::size_t part = next_.fetch_add(1, std::memory_order_relaxed);
      if (part >= count_) return;
      try {
        work_(part);
      } catch (...) {
        thrown_at(part);
      }
    }
  }

  // To be called once all are done. Every part before one that threw was begun before it.
  void rethrow() const {
    if (exception_ != nullptr) std::rethrow_exception(exception_);
  }

  // Under the hall's lock:
  std::size_t wanted;      // threads that may still come to help
  std::size_t inside = 0;  // that help
  std::condition_variable left;

 private:
  void thrown_at(std::size_t part) noexcept {
    const std::lock_guard<std::mutex> held(throwing_);
    stopped_ = true;
    if (part >= first_thrown_) return;
    first_thrown_ = part;
    exception_ = std::current_exception();
  }

  std::size_t count_;
  std::size_t first_thrown_;
  const Work& work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex throwing_;
  std::exception_ptr exception_;
};

}  // namespace

// Where threads wait for jobs.
class Workers::Hall {
 public:
  void run(Job& job, std::size_t most) {
    const bool open = post(job, most);
    job.do_parts();
    if (open) withdraw(job);
    job.rethrow();
  }

  void close() {
    std::vector<std::thread> ending;
    {
      const std::lock_guard<std::mutex> held(lock_);
      closing_ = true;
      ending.swap(threads_);
    }
    come_.notify_all();
    for (std::thread& thread : ending) thread.join();
  }

  std::size_t started() const {
    const std::lock_guard<std::mutex> held(lock_);
    return threads_.size();
  }

 private:
  // Asks for help; returns whether somebody may come.
  bool post(Job& job, std::size_t most) {
    const std::lock_guard<std::mutex> held(lock_);
    if (closing_) return false;
    jobs_.push_back(&job);
    start(most);
    for (std::size_t i = 0; i < job.wanted; ++i) come_.notify_one();
    return true;
  }

  // Asks for no more help, and waits for those who still help.
  void withdraw(Job& job) {
    std::unique_lock<std::mutex> held(lock_);
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), &job), jobs_.end());
    job.left.wait(held, [&] { return job.inside == 0; });
  }

  // Starts as many threads as all jobs want. Where the system gives none, callers do without.
  void start(std::size_t most) noexcept {
    std::size_t wanted = 0;
    for (const Job* job : jobs_) wanted += std::min(job->wanted + job->inside, most);
    const SignalsBlocked blocked;
    try {
      while (threads_.size() < std::min(wanted, most)) {
        threads_.emplace_back([this] { help(); });
      }
    } catch (const std::exception&) {
      return;
    }
  }

  void help() noexcept {
    std::unique_lock<std::mutex> held(lock_);
    while (true) {
      come_.wait(held, [&] { return closing_ || wanting() != nullptr; });
      if (closing_) return;
      Job& job = *wanting();
      --job.wanted;
      ++job.inside;
      held.unlock();
      job.do_parts();
      held.lock();
      if (--job.inside == 0) job.left.notify_one();
    }
  }

  // The job that has waited longest for more help.
  Job* wanting() const {
    for (Job* job : jobs_) {
      if (job->wanted > 0) return job;
    }
    return nullptr;
  }

  mutable std::mutex lock_;
  std::condition_variable come_;
  std::vector<Job*> jobs_;
  std::vector<std::thread> threads_;
  bool closing_ = false;
};

Workers::Workers(std::size_t most) : most_(most), hall_(std::make_unique<Hall>()) {}

Workers::~Workers() { close(); }

void Workers::run(std::size_t count, std::size_t threads, const Work& work) {
  const std::size_t helpers =
      std::min({most_, std::max<std::size_t>(threads, 1) - 1, std::max<std::size_t>(count, 1) - 1});
  if (helpers == 0) {
    for (std::size_t part = 0; part < count; ++part) work(part);
    return;
  }
  Job job(count, helpers, work);
  hall_->run(job, most_);
}

void Workers::close() { hall_->close(); }

void Workers::forget() {
  auto fresh = std::make_unique<Hall>();
  // Left behind: to end it would be to wait for threads that are not here.
  static_cast<void>(hall_.release());
  hall_ = std::move(fresh);
}

std::size_t Workers::started() const { return hall_->started(); }

void Crew::run(std::size_t count, const Work& work) const {
  if (workers != nullptr) return workers->run(count, threads, work);
  for (std::size_t part = 0; part < count; ++part) work(part);
}

}  // namespace ebb
