#include "args.h"

#include <gtest/gtest.h>

namespace headrace::load {
namespace {

TEST(Args, values_come_behind_a_space_or_an_equals_sign_and_the_last_counts) {
  const char* words[] = {"word", "--rate", "5", "--rate=7", "--flag", "--many", "a", "--many=b"};
  Args args(words);
  EXPECT_EQ(args.take_word(), "word");
  EXPECT_FALSE(args.take_word());
  int rate = 0;
  args.take_number("rate", rate, 1, 10);
  EXPECT_EQ(rate, 7);
  EXPECT_TRUE(args.take_flag("flag"));
  EXPECT_FALSE(args.take_flag("other"));
  EXPECT_EQ(args.take_all("many"), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_FALSE(args.finish());
}

TEST(Args, what_nobody_takes_is_an_error) {
  const char* words[] = {"--unknown", "1"};
  EXPECT_EQ(Args(words).finish(), "not understood: --unknown");
}

TEST(Args, numbers_out_of_bounds_or_with_rubbish_behind_are_errors) {
  for (const char* text : {"11", "0", "5x", "", "-1", "1e9"}) {
    const char* words[] = {"--rate", text};
    Args args(words);
    int rate = 3;
    args.take_number("rate", rate, 1, 10);
    EXPECT_EQ(rate, 3) << text;
    EXPECT_TRUE(args.finish()) << text;
  }
}

TEST(Args, a_missing_value_is_an_error) {
  const char* words[] = {"--rate"};
  Args args(words);
  EXPECT_FALSE(args.take("rate"));
  EXPECT_EQ(args.finish(), "--rate: needs a value");
}

TEST(Args, a_choice_is_one_of_its_words) {
  enum class Fruit { apple, pear };
  Fruit fruit = Fruit::apple;
  const char* good[] = {"--fruit", "pear"};
  Args args(good);
  args.take_choice("fruit", fruit, {{"apple", Fruit::apple}, {"pear", Fruit::pear}});
  EXPECT_EQ(fruit, Fruit::pear);
  EXPECT_FALSE(args.finish());
  const char* bad[] = {"--fruit", "plum"};
  Args others(bad);
  others.take_choice("fruit", fruit, {{"apple", Fruit::apple}, {"pear", Fruit::pear}});
  EXPECT_EQ(others.finish(), "--fruit: not one of apple|pear: plum");
}

}  // namespace
}  // namespace headrace::load
