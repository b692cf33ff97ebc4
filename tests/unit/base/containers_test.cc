#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/list.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace headrace {
namespace {

struct ByAge;
struct BySize;
struct Member : Linked<ByAge>, Linked<BySize> {
  explicit Member(char member_name) : name(member_name) {}
  char name;
};
using AgeList = List<Member, ByAge>;
using SizeList = List<Member, BySize>;

template <class AnyList>
std::string names_in(AnyList& list) {
  std::string names;
  for (Member& member : list) names += member.name;
  return names;
}

TEST(list, keeps_the_order_in_which_members_came) {
  Member a('a'), b('b'), c('c');
  AgeList list;
  EXPECT_TRUE(list.empty());
  list.push_back(a);
  list.push_back(b);
  list.push_front(c);
  EXPECT_EQ(names_in(list), "cab");
  EXPECT_EQ(list.front().name, 'c');
  EXPECT_EQ(list.back().name, 'b');
  EXPECT_EQ(list.pop_front().name, 'c');
  EXPECT_EQ(names_in(list), "ab");
}

TEST(list, a_member_that_dies_leaves_by_itself) {
  AgeList list;
  Member a('a'), c('c');
  list.push_back(a);
  {
    Member b('b');
    list.push_back(b);
    list.push_back(c);
    EXPECT_EQ(names_in(list), "abc");
  }
  EXPECT_EQ(names_in(list), "ac");
}

TEST(list, a_list_that_dies_lets_its_members_go) {
  Member a('a');
  {
    AgeList list;
    list.push_back(a);
  }
  AgeList other;
  other.push_back(a);
  EXPECT_EQ(names_in(other), "a");
}

TEST(list, one_member_can_be_in_a_list_of_each_kind) {
  Member a('a'), b('b');
  AgeList by_age;
  SizeList by_size;
  by_age.push_back(a);
  by_age.push_back(b);
  by_size.push_front(a);
  by_size.push_front(b);
  AgeList::remove(a);
  EXPECT_EQ(names_in(by_age), "b");
  EXPECT_EQ(names_in(by_size), "ba");
}

TEST(list, all_members_can_move_at_once) {
  Member a('a'), b('b'), c('c');
  AgeList from, to;
  to.push_back(a);
  from.push_back(b);
  from.push_back(c);
  to.take_all(from);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(names_in(to), "abc");
}

TEST(list_death, a_member_cannot_be_twice_in_lists_of_one_kind) {
  Member a('a');
  AgeList first, second;
  first.push_back(a);
  EXPECT_DEATH(second.push_back(a), "assertion failed");
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

struct Pipe {
  Pipe() {
    int fds[2];
    EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    reader = UniqueFd(fds[0]);
    writer = UniqueFd(fds[1]);
  }
  UniqueFd reader, writer;
};

TEST(unique_fd, closes_what_it_owns) {
  Pipe pipe;
  const int number = pipe.reader.get();
  ASSERT_TRUE(is_open(number));
  { const UniqueFd owner = std::move(pipe.reader); }
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(pipe.reader);
  pipe.writer.close();
  pipe.writer.close();
  EXPECT_FALSE(pipe.writer);
}

TEST(unique_fd, assignment_closes_the_old_one_and_keeps_the_new) {
  Pipe pipe;
  const int old_number = pipe.reader.get();
  const int new_number = pipe.writer.get();
  pipe.reader = std::move(pipe.writer);
  EXPECT_FALSE(is_open(old_number));
  EXPECT_TRUE(is_open(new_number));
  EXPECT_EQ(pipe.reader.get(), new_number);
}

TEST(unique_fd, release_gives_the_descriptor_away) {
  Pipe pipe;
  const int number = pipe.reader.release();
  EXPECT_FALSE(pipe.reader);
  EXPECT_TRUE(is_open(number));
  const UniqueFd owner(number);
}

TEST(bytes, numbers_travel_in_network_order) {
  std::string out;
  append_u8(out, 0xfe);
  append_u16(out, 0x01bb);
  EXPECT_EQ(out, "\xfe\x01\xbb");
  EXPECT_EQ(load_u16(as_bytes(out).data() + 1), 0x01bb);
  EXPECT_EQ(as_text(as_bytes("abc")), "abc");
}

TEST(text, ascii_alone_has_case) {
  EXPECT_TRUE(equals_ignoring_case("Keep-Alive", "kEEP-aLIVE"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
  EXPECT_EQ(lowered("ABZ[\xc4"), "abz[\xc4");
}

TEST(text, only_blanks_and_tabs_are_trimmed) {
  EXPECT_EQ(trimmed(" \t a b\t "), "a b");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed("\ra\n"), "\ra\n");
}

TEST(text, numbers_are_digits_and_nothing_else) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<uint8_t>("255"), 255);
  EXPECT_EQ(parse_number<int>("fF", 16), 255);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0"})
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  EXPECT_EQ(parse_number<uint8_t>("256"), std::nullopt);
}

}  // namespace
}  // namespace headrace
