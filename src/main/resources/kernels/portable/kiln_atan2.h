// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <math.h>
#include <stdint.h>

/*
 * The angle of the point (x, y): of the smaller by the larger coordinate, by a polynomial of the quotient within 2e-8 (Abramowitz and Stegun,
 * 4.4.49), then put into its octant. Signs of zeros count as in ISO C.
 */
static inline float kiln_atan2(float y, float x) {
  const float pi = 3.14159265f;
  if (x != x || y != y) {
    return x + y;
  }
  const float a = x < 0.0f ? -x : x;
  const float b = y < 0.0f ? -y : y;
  const float larger = a < b ? b : a;
  const float smaller = a < b ? a : b;
  const float quotient = larger == 0.0f ? 0.0f : (smaller == larger ? 1.0f : smaller / larger);
  const float square = quotient * quotient;
  float sum = 0.0028662257f;
  sum = sum * square - 0.0161657367f;
  sum = sum * square + 0.0429096138f;
  sum = sum * square - 0.0752896400f;
  sum = sum * square + 0.1065626393f;
  sum = sum * square - 0.1420889944f;
  sum = sum * square + 0.1999355085f;
  sum = sum * square - 0.3333314528f;
  float angle = (sum * square + 1.0f) * quotient;
  if (a < b) {
    angle = 0.5f * pi - angle;
  }
  if (copysignf(1.0f, x) < 0.0f) {
    angle = pi - angle;
  }
  return copysignf(angle, y);
}
