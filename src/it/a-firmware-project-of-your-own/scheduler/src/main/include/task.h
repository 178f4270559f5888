/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_H_
#define TASK_H_

#include "FreeRTOS.h"

#ifdef __cplusplus
extern "C" {
#endif

struct task;
typedef struct task* TaskHandle_t;
typedef void (*TaskFunction_t)(void* argument);

/* Makes a task ready; tasks of a higher priority run first. pdFAIL if there are configMAX_TASKS. */
BaseType_t xTaskCreate(TaskFunction_t function, const char* name, uint16_t words, void* argument, UBaseType_t priority,
                       TaskHandle_t* handle);

/* Runs the tasks; does not return. */
void vTaskStartScheduler(void);

/* Lets others run for so many ticks. */
void vTaskDelay(TickType_t ticks);

/* Words of a task's stack that were never used; of the running task's for NULL. */
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task);

/* Ticks since the start. */
TickType_t xTaskGetTickCount(void);

#ifdef __cplusplus
}
#endif

#endif
