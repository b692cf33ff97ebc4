// docs/reasons.md is what operators look reasons up in: it must name every one, and give the
// answers that the program gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "http/answer.h"
#include "socks/socks5.h"

namespace headrace {
namespace {

struct Row {
  std::string name, meaning, whose, http, socks;
};

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  for (size_t bar = line.find('|'); bar != line.npos; bar = line.find('|')) {
    cells.emplace_back(trimmed(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  return cells;
}

// The rows of the page's table whose first cell is `a name in backquotes`.
std::vector<Row> rows_of_page() {
  std::vector<Row> rows;
  std::ifstream page(HEADRACE_REASONS_PAGE);
  EXPECT_TRUE(page) << HEADRACE_REASONS_PAGE;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = cells_of(line);
    EXPECT_EQ(cells.size(), 5u) << line;
    if (cells.size() == 5) rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4]});
  }
  return rows;
}

std::string http_cell(Errc what) {
  const int for_client = http::status_of(Error{what, Side::client});
  const int for_others = http::status_of(Error{what, Side::upstream});
  EXPECT_EQ(for_others, http::status_of(Error{what, Side::local}));
  if (for_client == for_others) return fmt::format("{}", for_client);
  return fmt::format("{} / {}", for_client, for_others);
}

TEST(reasons_page, names_every_reason_in_order_with_the_answers_that_it_gets) {
  const std::vector<Row> rows = rows_of_page();
  ASSERT_EQ(rows.size(), kErrcCount);
  for (size_t i = 0; i < kErrcCount; ++i) {
    const Errc what = static_cast<Errc>(i);
    EXPECT_EQ(rows[i].name, fmt::format("`{}`", name_of(what)));
    EXPECT_GE(rows[i].meaning.size(), 10u) << name_of(what);
    EXPECT_EQ(rows[i].http, http_cell(what)) << name_of(what);
    EXPECT_EQ(rows[i].socks, fmt::format("{:02X}", static_cast<int>(socks::reply_code_of(what))))
        << name_of(what);
  }
}

TEST(reasons_page, says_on_whose_side_each_reason_lies) {
  for (const Row& row : rows_of_page())
    EXPECT_TRUE(row.whose == "client" || row.whose == "upstream" || row.whose == "local" ||
                row.whose == "client, upstream")
        << row.name << ": " << row.whose;
}

}  // namespace
}  // namespace headrace
