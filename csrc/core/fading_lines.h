// The line a slot's log weight falls on, what bounds several lines, and their value at a moment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ebb {

// When to ask for, and how fast slots of pace 1 fade per unit of time.
struct Moment {
  std::int64_t now_us = 0;
  double rate = 0.0;
};

struct FadingLine {
  // Times of live slots are within +-kMaxTimeUs, so that no difference overflows; the dead have
  // no importance and a time that no live slot has.
  static constexpr std::int64_t kMaxTimeUs = std::int64_t{1} << 61;
  static constexpr std::int64_t kDeadSince = -kMaxTimeUs - 1;

  double log_importance = -std::numeric_limits<double>::infinity();
  std::int64_t since_us = kDeadSince;

  bool alive() const { return since_us != kDeadSince; }
};

// Lines by slot.
struct FadingLines {
  std::vector<FadingLine> lines;
  std::vector<double> paces;  // empty while every pace is 1

  std::size_t size() const { return lines.size(); }
  double pace(std::size_t slot) const { return paces.empty() ? 1.0 : paces[slot]; }
};

// The greatest importance, the least pace and the latest time of some live slots.
struct FadingBound {
  double log_importance = -std::numeric_limits<double>::infinity();
  double pace = std::numeric_limits<double>::max();
  std::int64_t since_us = -FadingLine::kMaxTimeUs;

  void cover(const FadingLine& line, double its_pace) {
    log_importance = std::max(log_importance, line.log_importance);
    pace = std::min(pace, its_pace);
    since_us = std::max(since_us, line.since_us);
  }
};

// The opposite ends.
struct FadingFloor {
  double log_importance = std::numeric_limits<double>::infinity();
  double pace = 0.0;
  std::int64_t since_us = FadingLine::kMaxTimeUs;

  void cover(const FadingLine& line, double its_pace) {
    log_importance = std::min(log_importance, line.log_importance);
    pace = std::max(pace, its_pace);
    since_us = std::min(since_us, line.since_us);
  }
};

// Lines at a moment. Every step is rounded once and is monotone, also when rounded: what bounds
// lines bounds their weights, with no slack.
class FadingMoment {
 public:
  FadingMoment(const Moment& moment, double unit_us) : moment_(moment), unit_us_(unit_us) {}

  double weight(double log_importance, double pace, std::int64_t since_us) const {
    const double rate = std::min(moment_.rate * pace, std::numeric_limits<double>::max());
    const std::int64_t elapsed_us = std::max<std::int64_t>(moment_.now_us - since_us, 0);
    return log_importance - rate * (static_cast<double>(elapsed_us) / unit_us_);
  }

  double weight(const FadingBound& bound) const {
    return weight(bound.log_importance, bound.pace, bound.since_us);
  }

  double weight(const FadingFloor& floor) const {
    return weight(floor.log_importance, floor.pace, floor.since_us);
  }

  double weight(const FadingLines& lines, std::size_t slot) const {
    const FadingLine& line = lines.lines[slot];
    return weight(line.log_importance, lines.pace(slot), line.since_us);
  }

 private:
  Moment moment_;
  double unit_us_;
};

}  // namespace ebb
