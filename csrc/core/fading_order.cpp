#include "core/fading_order.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elementary.h"

namespace ebb {

namespace {

using Place = FadingOrder::Place;
using Block = FadingOrder::Block;

constexpr std::size_t kBlockSlots = FadingOrder::kBlockSlots;
constexpr std::size_t kSparse = kBlockSlots / 4;

// Steps of a tenth in ln(importance) tell the whole numbers from 1 to 10 apart.
constexpr double kImportanceSteps = 10.0;
constexpr double kImportanceLimit = 31.0;
// Four steps for each halving of the pace.
constexpr double kPaceSteps = -4.0 / 0.6931471805599453;
constexpr double kPaceLimit = 31.0;

bool operator<(const Place& a, const Place& b) {
  return a.since_us != b.since_us ? a.since_us < b.since_us : a.slot < b.slot;
}

double clamp(double x, double limit) { return std::min(std::max(x, -limit), limit); }

// The number of a slot's class. What is out of the usual range shares the outermost classes.
std::uint32_t class_code(double log_importance, double pace) {
  const double steps = std::floor(clamp(log_importance * kImportanceSteps, kImportanceLimit));
  const double pace_steps =
      pace == 1.0 ? 0.0 : std::floor(clamp(log(pace) * kPaceSteps, kPaceLimit));
  return static_cast<std::uint32_t>((steps + kImportanceLimit) * 64.0 + pace_steps + kPaceLimit);
}

Place place_of(std::int32_t slot, const FadingLines& lines) {
  return {lines.lines[static_cast<std::size_t>(slot)].since_us, slot};
}

void cover(Block& block, std::int32_t slot, const FadingLines& lines) {
  const auto index = static_cast<std::size_t>(slot);
  block.bound.cover(lines.lines[index], lines.pace(index));
  block.floor.cover(lines.lines[index], lines.pace(index));
}

void tighten(Block& block, const FadingLines& lines) {
  block.bound = {};
  block.floor = {};
  for (const std::int32_t slot : block.slots) cover(block, slot, lines);
}

Block block_of(std::int32_t slot, const FadingLines& lines) {
  Block block{place_of(slot, lines), {}, {}, {slot}};
  tighten(block, lines);
  return block;
}

// The block among whose slots a place belongs. There is at least one block.
std::vector<Block>::iterator block_at(std::vector<Block>& blocks, const Place& place) {
  const auto later =
      std::upper_bound(blocks.begin(), blocks.end(), place,
                       [](const Place& p, const Block& block) { return p < block.first; });
  return later == blocks.begin() ? later : later - 1;
}

bool is_after(const Place& place, const Block& block, const FadingLines& lines) {
  return place.since_us >= block.bound.since_us &&
         std::all_of(block.slots.begin(), block.slots.end(),
                     [&](std::int32_t slot) { return place_of(slot, lines) < place; });
}

// Move the later half of a full block to one behind it.
void split(std::vector<Block>& blocks, std::vector<Block>::iterator full,
           const FadingLines& lines) {
  std::vector<std::int32_t>& slots = full->slots;
  std::sort(slots.begin(), slots.end(), [&lines](std::int32_t a, std::int32_t b) {
    return place_of(a, lines) < place_of(b, lines);
  });
  const auto middle = slots.begin() + kBlockSlots / 2;
  Block later{place_of(*middle, lines), {}, {}, {middle, slots.end()}};
  tighten(later, lines);
  slots.erase(middle, slots.end());
  tighten(*full, lines);
  blocks.insert(full + 1, std::move(later));
}

// Join a block with few slots to the one before it, if both fit well into one.
void join(std::vector<Block>& blocks, std::vector<Block>::iterator sparse,
          const FadingLines& lines) {
  if (sparse == blocks.begin()) return;
  Block& before = *(sparse - 1);
  if (before.slots.size() + sparse->slots.size() > kBlockSlots / 2) return;
  before.slots.insert(before.slots.end(), sparse->slots.begin(), sparse->slots.end());
  tighten(before, lines);
  blocks.erase(sparse);
}

}  // namespace

std::size_t FadingOrder::bytes() const {
  std::size_t bytes = classes_.capacity() * sizeof(Class);
  for (const Class& members : classes_) {
    bytes += members.blocks.capacity() * sizeof(Block);
    for (const Block& block : members.blocks) {
      bytes += block.slots.capacity() * sizeof(std::int32_t);
    }
  }
  return bytes;
}

void FadingOrder::clear() noexcept { std::vector<Class>().swap(classes_); }

std::vector<FadingOrder::Class>::iterator FadingOrder::class_at(std::uint32_t code) {
  return std::lower_bound(classes_.begin(), classes_.end(), code,
                          [](const Class& a, std::uint32_t c) { return a.code < c; });
}

void FadingOrder::insert(std::int32_t slot, const FadingLines& lines) {
  const auto index = static_cast<std::size_t>(slot);
  const std::uint32_t code = class_code(lines.lines[index].log_importance, lines.pace(index));
  auto members = class_at(code);
  if (members == classes_.end() || members->code != code) {
    members = classes_.insert(members, Class{code, {}, {}});
  }
  members->bound.cover(lines.lines[index], lines.pace(index));
  std::vector<Block>& blocks = members->blocks;
  if (blocks.empty()) {
    blocks.push_back(block_of(slot, lines));
    return;
  }
  const Place place = place_of(slot, lines);
  auto block = block_at(blocks, place);
  if (block->slots.size() == kBlockSlots) {
    if (block + 1 == blocks.end() && is_after(place, *block, lines)) {
      blocks.push_back(block_of(slot, lines));
      return;
    }
    split(blocks, block, lines);
    block = block_at(blocks, place);
  }
  block->slots.push_back(slot);
  cover(*block, slot, lines);
  if (place < block->first) block->first = place;
}

void FadingOrder::erase(std::int32_t slot, const FadingLines& lines) {
  const auto index = static_cast<std::size_t>(slot);
  const auto members = class_at(class_code(lines.lines[index].log_importance, lines.pace(index)));
  std::vector<Block>& blocks = members->blocks;
  const Place place = place_of(slot, lines);
  const auto block = block_at(blocks, place);
  std::vector<std::int32_t>& slots = block->slots;
  *std::find(slots.begin(), slots.end(), slot) = slots.back();
  slots.pop_back();
  if (slots.empty()) {
    blocks.erase(block);
    if (blocks.empty()) classes_.erase(members);
    return;
  }
  // Wider than needed does no harm, and looking again each time would cost more than it saves.
  if (place.since_us == block->bound.since_us || slots.size() % 32 == 0) tighten(*block, lines);
  if (slots.size() < kSparse) join(blocks, block, lines);
}

FadingOrder::Walk::Walk(const FadingOrder& order, const FadingMoment& moment) : moment_(moment) {
  heads_.reserve(order.classes_.size());
  for (const Class& members : order.classes_) {
    heads_.push_back(
        {bound_of(members, members.blocks.size() - 1), &members, members.blocks.size()});
  }
  std::make_heap(heads_.begin(), heads_.end(), comes_later);
}

// With the importance and pace of the whole class, so that it falls from block to block.
double FadingOrder::Walk::bound_of(const Class& members, std::size_t block) const {
  return moment_.weight(members.bound.log_importance, members.bound.pace,
                        members.blocks[block].bound.since_us);
}

const Block& FadingOrder::Walk::next() {
  std::pop_heap(heads_.begin(), heads_.end(), comes_later);
  Head& head = heads_.back();
  const Class& members = *head.members;
  const Block& block = members.blocks[--head.blocks_left];
  if (head.blocks_left == 0) {
    heads_.pop_back();
  } else {
    head.bound = bound_of(members, head.blocks_left - 1);
    std::push_heap(heads_.begin(), heads_.end(), comes_later);
  }
  return block;
}

std::size_t FadingOrder::Walk::slots_left(double least) const {
  std::size_t slots = 0;
  for (const Head& head : heads_) {
    const Class& members = *head.members;
    for (std::size_t i = head.blocks_left; i > 0 && !(bound_of(members, i - 1) < least); --i) {
      const Block& block = members.blocks[i - 1];
      if (!(moment_.weight(block.bound) < least)) slots += block.slots.size();
    }
  }
  return slots;
}

}  // namespace ebb
