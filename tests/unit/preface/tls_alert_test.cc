#include "preface/tls_alert.h"

#include <gtest/gtest.h>

namespace headrace::preface {
namespace {

using namespace std::string_literals;

TEST(tls_alert, is_a_record_with_one_fatal_alert) {
  std::string out;
  append_alert(out, Alert::unrecognized_name);
  EXPECT_EQ(out, "\x15\x03\x03\x00\x02\x02\x70"s);
}

}  // namespace
}  // namespace headrace::preface
