/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in with the shape of FreeRTOS: the firmware's FreeRTOSConfig.h says how fast the core and its tick are. FreeRTOS itself is made into a
 * firmware-library the same way: its sources in src/main/c, its headers and those of its port in src/main/include.
 */
#ifndef FREERTOS_H_
#define FREERTOS_H_

#include <stdint.h>

#include "FreeRTOSConfig.h"

typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;
typedef uint32_t StackType_t;

#define pdPASS ((BaseType_t)1)
#define pdFAIL ((BaseType_t)0)
#define pdMS_TO_TICKS(ms) ((TickType_t)((uint64_t)(ms) * configTICK_RATE_HZ / 1000u))

#endif
