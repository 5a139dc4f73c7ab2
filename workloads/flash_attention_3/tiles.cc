#include "workloads/flash_attention_3/tiles.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include "workloads/common/longest_first.h"

namespace warpfold::workloads {
namespace {

constexpr size_t kMostLengths = 8;
constexpr size_t kParts = kMostLengths / 2;      // each part has two lengths: the mean rounded down, and up
constexpr size_t kMostShare = 16;                // CTAs
constexpr uint64_t kSectionBytes = 32ULL << 20;  // keys and values of the heads whose tiles are sorted together

uint64_t blocks_of(const QueryTile& tile) { return tile.full_blocks + tile.masked_blocks; }

struct Drawn {
  std::vector<uint64_t> blocks;  // blocks of each tile
  uint64_t work = 0;
};

std::vector<Drawn> draw(const std::vector<uint64_t>& queue, uint64_t ctas, const std::function<uint64_t(uint64_t blocks)>& work) {
  std::vector<Drawn> drawn(ctas);
  using Turn = std::pair<uint64_t, uint64_t>;  // work so far, CTA
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (uint64_t cta = 0; cta < ctas; ++cta) turns.push({0, cta});
  for (const uint64_t blocks : queue) {
    const uint64_t cta = turns.top().second;
    Drawn& next = drawn[cta];
    next.blocks.push_back(blocks);
    next.work += work(blocks);
    turns.pop();
    turns.push({next.work, cta});
  }
  return drawn;
}

// Adds `tiles` tiles with `blocks` blocks in total, as equal as possible.
void add_tiles(std::vector<TilesOfLength>& lengths, uint64_t blocks, uint64_t tiles) {
  for (const TilesOfLength& each : {TilesOfLength{blocks / tiles, tiles - blocks % tiles}, {blocks / tiles + 1, blocks % tiles}}) {
    if (each.tiles == 0) continue;
    if (lengths.empty() || lengths.back().blocks != each.blocks) lengths.push_back({each.blocks, 0});
    lengths.back().tiles += each.tiles;
  }
}

// Adds CTAs that have equally many tiles and share them evenly in `parts` parts. If a part's blocks do not divide evenly, the
// remainder moves to the next part. The remainder of the last part makes some CTAs a block longer.
void add_even(std::vector<CtaTiles>& result, std::span<const Drawn> sharing, size_t parts) {
  std::vector<uint64_t> blocks;
  for (const Drawn& each : sharing) blocks.insert(blocks.end(), each.blocks.begin(), each.blocks.end());
  std::ranges::sort(blocks);
  const uint64_t ctas = sharing.size();
  const size_t tiles = sharing.front().blocks.size();
  std::vector<TilesOfLength> lengths;
  std::vector<TilesOfLength> longer;
  uint64_t left = 0;
  for (size_t part = 0; part < parts; ++part) {
    const size_t begin = part * tiles / parts;
    const size_t end = (part + 1) * tiles / parts;
    const uint64_t sum = std::accumulate(blocks.data() + begin * ctas, blocks.data() + end * ctas, left);
    left = sum % ctas;
    longer = lengths;
    add_tiles(lengths, sum / ctas, end - begin);
    add_tiles(longer, sum / ctas + 1, end - begin);
  }
  result.push_back({ctas - left, lengths});
  if (left > 0) result.push_back({left, longer});
}

}  // namespace

std::vector<uint64_t> head_after_head(const AttentionTiles& tiles) {
  std::vector<uint64_t> queue;
  for (uint64_t head = 0; head < tiles.batch() * tiles.heads(); ++head) {
    for (const QueryTile& tile : tiles.query_tiles()) queue.push_back(blocks_of(tile));
  }
  return queue;
}

uint64_t heads_of_section(const AttentionTiles& tiles) {
  return heads_within(tiles, kSectionBytes) * (tiles.heads() / tiles.kv_heads());
}

std::vector<CtaTiles> draw_tiles(const std::vector<uint64_t>& queue, uint64_t ctas,
                                 const std::function<uint64_t(uint64_t blocks)>& work) {
  std::vector<Drawn> drawn = draw(queue, ctas, work);
  std::ranges::stable_sort(drawn, std::ranges::greater{}, &Drawn::work);
  const std::set<uint64_t> lengths(drawn.front().blocks.begin(), drawn.front().blocks.end());
  std::vector<CtaTiles> result;
  add_even(result, {drawn.data(), 1}, lengths.size() <= kMostLengths ? drawn.front().blocks.size() : kParts);
  std::stable_sort(drawn.begin() + 1, drawn.end(),
                   [](const Drawn& one, const Drawn& other) { return one.blocks.size() > other.blocks.size(); });
  for (size_t first = 1; first < drawn.size();) {
    const size_t count = drawn[first].blocks.size();
    size_t sharing = 1;
    while (sharing < kMostShare && first + sharing < drawn.size() && drawn[first + sharing].blocks.size() == count) ++sharing;
    add_even(result, {&drawn[first], sharing}, std::min(count, kParts));
    first += sharing;
  }
  return result;
}

}  // namespace warpfold::workloads
