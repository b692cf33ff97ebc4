// The ways in which a network may deliver bytes: whole, byte by byte, and cut once at every
// position. A parser must come to the same end each time.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace headrace::http {

using Pieces = std::vector<std::string_view>;

inline Pieces cut_into(std::string_view bytes, size_t piece_bytes) {
  Pieces pieces;
  for (size_t at = 0; at < bytes.size(); at += piece_bytes)
    pieces.push_back(bytes.substr(at, piece_bytes));
  return pieces;
}

// `run` takes Pieces and describes in text what came of them. Returns what came of the whole.
template <class Run>
std::string in_every_delivery(std::string_view bytes, Run run) {
  std::string whole = run(Pieces{bytes});
  EXPECT_EQ(run(cut_into(bytes, 1)), whole) << "byte by byte: " << bytes;
  for (size_t cut = 1; cut < bytes.size(); ++cut)
    EXPECT_EQ(run(Pieces{bytes.substr(0, cut), bytes.substr(cut)}), whole)
        << "cut at " << cut << ": " << bytes;
  return whole;
}

}  // namespace headrace::http
