/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOLD_H
#define TOLD_H

#include <stdint.h>

/* The input times the options' first byte, in the output's scale; 0, or 1 if there are no such options. */
int32_t told(
    const int8_t* input0, int8_t* output0, const float* scales, const int32_t* zero_points, const uint8_t* options,
    int32_t options_size);

#endif
