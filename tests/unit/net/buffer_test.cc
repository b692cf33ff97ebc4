#include "net/buffer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace headrace::net {
namespace {

ByteSpan bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
std::string text_of(ByteSpan bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(residue, what_is_appended_leaves_in_order) {
  Residue residue;
  EXPECT_TRUE(residue.empty());
  residue.append(bytes_of("head"));
  residue.append(bytes_of("race"));
  EXPECT_EQ(residue.size(), 8u);
  residue.consume(2);
  EXPECT_EQ(text_of(residue.bytes()), "adrace");
  residue.append(bytes_of("!"));
  EXPECT_EQ(text_of(residue.bytes()), "adrace!");
  residue.consume(7);
  EXPECT_TRUE(residue.empty());
  EXPECT_EQ(residue.size(), 0u);
}

TEST(residue, what_is_prepended_leaves_first) {
  Residue residue;
  residue.prepend(bytes_of("race"));
  residue.prepend(bytes_of("xhead"));
  residue.consume(1);
  residue.append(bytes_of("!"));
  residue.prepend({});
  EXPECT_EQ(text_of(residue.bytes()), "headrace!");
}

TEST(residue, nothing_appended_keeps_nothing) {
  Residue residue;
  residue.append({});
  EXPECT_TRUE(residue.empty());
  residue.append(bytes_of("x"));
  residue.append({});
  EXPECT_EQ(text_of(residue.bytes()), "x");
}

TEST(residue, an_empty_one_holds_no_memory) {
  Residue residue;
  residue.append(bytes_of("text"));
  residue.consume(4);
  EXPECT_EQ(residue.bytes().data(), nullptr);
  residue.append(bytes_of("more"));
  residue.clear();
  EXPECT_EQ(residue.bytes().data(), nullptr);
  EXPECT_TRUE(residue.empty());
}

TEST(residue, behaves_as_a_queue_of_bytes) {
  std::mt19937 random(1);
  Residue residue;
  std::string model;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 && model.size() < 1000) {
      const std::string more(random() % 100, static_cast<char>('a' + random() % 26));
      residue.append(bytes_of(more));
      model += more;
    } else {
      const size_t gone = random() % (model.size() + 1);
      residue.consume(gone);
      model.erase(0, gone);
    }
    ASSERT_EQ(text_of(residue.bytes()), model);
    ASSERT_EQ(residue.empty(), model.empty());
  }
}

}  // namespace
}  // namespace headrace::net
