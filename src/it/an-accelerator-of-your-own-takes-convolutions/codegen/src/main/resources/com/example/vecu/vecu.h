/* SPDX-License-Identifier: Apache-2.0
 *
 * Between generated code and the driver of the vector unit.
 */
#ifndef VECU_H_
#define VECU_H_

#include <stdint.h>

/* Memory that commands name by number: input, filter, bias, multipliers, shifts, output, window. */
#define VECU_REGIONS 7

/* Runs commands of the unit; returns 0, or anything else for an error. */
int32_t vecu_run(void* device, const uint32_t* commands, uint32_t words, const void* const* regions);

#endif
