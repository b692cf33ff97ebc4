#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "config/options_table.h"

namespace headrace::config {
namespace {

TEST(options_page, the_page_in_the_tree_is_what_the_table_says) {
  std::ifstream file(HEADRACE_OPTIONS_PAGE);
  ASSERT_TRUE(file) << HEADRACE_OPTIONS_PAGE;
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), options_page())
      << "renew it: headrace help options > docs/configuration.md";
}

TEST(options_page, every_option_stands_in_it_with_its_default) {
  const std::string page = options_page();
  for (const Option& option : options()) {
    const size_t heading = page.find("### `" + std::string(option.name) + "`\n");
    ASSERT_NE(heading, page.npos) << option.name;
    const std::string section = page.substr(heading, page.find("\n### ", heading + 1) - heading);
    EXPECT_NE(section.find("default `" + option.default_text() + "`"), section.npos) << section;
  }
}

TEST(options_page, lines_fit_a_terminal_of_100_columns) {
  std::istringstream lines(options_page());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace headrace::config
