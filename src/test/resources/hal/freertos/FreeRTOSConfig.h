/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FREERTOS_CONFIG_H_
#define FREERTOS_CONFIG_H_

#define configCPU_CLOCK_HZ 25000000u
#define configTICK_RATE_HZ 1000u
#define configMAX_TASKS 4u

#endif
