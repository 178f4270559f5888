/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HALVE_H
#define HALVE_H

#include <stdint.h>

/* Half of each of 16 values, rounded to zero. */
int32_t halve(const int8_t* input0, int8_t* output0);

#endif
