// Threads that help callers with their work: one pool for as many callers as come.
//
// A caller does its own work and is helped by threads that are free, so it never waits for a part
// that nobody has begun, and needs no thread to get done. Threads are started when a call first
// wants one, never more than `most`, and end with the pool. They block the signals
// that come from elsewhere: those are for the threads of the program.
//
// run() and close() may be called by any thread at any time. A forked child has none of the
// threads: call forget() there before anything else.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace ebb {

class Workers {
 public:
  // Starts no thread yet.
  explicit Workers(std::size_t most);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();  // no run() may be under way

  // Calls work(part) for every part of [0, count), each once, on the caller's own thread and on up
  // to `threads` - 1 others. Parts are begun in order; once one has thrown no further part is
  // begun. Returns when all that were begun are done, so that nothing goes on unowned; of the
  // exceptions thrown that of the first part comes out, which does not depend on `threads`.
  void run(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

  // Ends the threads, each once the call that it helps has no part left, and waits for them. Later
  // calls are done by their callers.
  void close();

  // In a forked child, whose only thread calls this: the parent's threads are not here, and a lock
  // may seem to be held for ever. What they had is left behind; new ones start when wanted.
  void forget();

  std::size_t most() const { return most_; }
  std::size_t started() const;  // how many threads there are

 private:
  class Hall;

  std::size_t most_;
  std::unique_ptr<Hall> hall_;
};

// Who does the parts of a call: its caller, and up to `threads` - 1 of the workers.
struct Crew {
  Workers* workers = nullptr;  // absent: the caller alone
  std::size_t threads = 1;

  // As Workers::run.
  void run(std::size_t count, const std::function<void(std::size_t)>& work) const;
};

}  // namespace ebb
