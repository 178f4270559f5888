// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// A running mean of samples, amplified by GAIN.
class Smooth {
 public:
  int32_t add(int32_t sample) {
    sum_ += sample;
    ++count_;
    return GAIN * sum_ / count_;
  }

 private:
  int32_t sum_ = 0;
  int32_t count_ = 0;
};
