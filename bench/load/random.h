// Seeded random numbers, the same on every machine and with every standard library (the
// distributions of <random> are not): xoshiro256** by Blackman and Vigna, seeded by splitmix64.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace headrace::load {

// One step of splitmix64 from state x: also a good hash of a number.
constexpr uint64_t splitmix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// An extension, but of both compilers that build this.
__extension__ typedef unsigned __int128 uint128;

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t i = 0; i < state_.size(); ++i) state_[i] = splitmix64(splitmix64(seed) + i);
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Uniform in [0, count); the bias of the multiplication is below 2^-32 for counts below 2^32.
  uint64_t below(uint64_t count) {
    return static_cast<uint64_t>((static_cast<uint128>(next()) * count) >> 64);
  }

  bool chance(double probability) { return uniform() < probability; }

  double exponential(double mean) { return -mean * std::log1p(-uniform()); }

  // Between low and high, every octave as likely as the other: the shape of sizes on the web.
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace headrace::load
