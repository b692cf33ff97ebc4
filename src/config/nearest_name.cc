#include "config/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace headrace::config {
namespace {

// The optimal string alignment distance, row by row.
size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t exchanged = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, exchanged});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view written, std::span<const std::string_view> names) {
  // No name is nearly as long; comparing takes time in the product of both lengths.
  constexpr size_t kWrittenBytesMax = 64;
  if (written.size() > kWrittenBytesMax) return {};
  std::string_view nearest;
  size_t fewest_slips = 0;
  for (const std::string_view name : names) {
    const size_t slips = slips_between(written, name);
    const bool plausible = 2 * slips < std::max(written.size(), name.size());
    if (plausible && (nearest.empty() || slips < fewest_slips)) {
      nearest = name;
      fewest_slips = slips;
    }
  }
  return nearest;
}

}  // namespace headrace::config
