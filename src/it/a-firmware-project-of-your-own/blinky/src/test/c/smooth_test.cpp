// SPDX-License-Identifier: Apache-2.0
#include "kiln_test.h"
#include "smooth.hpp"

KILN_TEST(the_first_sample_is_its_own_mean) {
  Smooth smooth;
  KILN_CHECK_EQUAL(smooth.add(7), 7 * GAIN);
}

KILN_TEST(samples_count_the_same) {
  Smooth smooth;
  smooth.add(10);
  KILN_CHECK_EQUAL(smooth.add(20), 15 * GAIN);
}
