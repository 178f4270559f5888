/* SPDX-License-Identifier: Apache-2.0
 *
 * A small preemptive scheduler for Cortex-M4: the ready task of the highest priority runs; the tick wakes those that wait.
 */
#include "task.h"

#include <stddef.h>

#define STACK_WORDS 1024u
#define EXC_RETURN 0xfffffffdu /* to a thread, on the process stack, without floating point registers */
#define THUMB 0x01000000u
#define UNUSED 0xa5a5a5a5u

#define SYSTICK_CONTROL (*(volatile uint32_t*)0xe000e010u)
#define SYSTICK_RELOAD (*(volatile uint32_t*)0xe000e014u)
#define SYSTICK_VALUE (*(volatile uint32_t*)0xe000e018u)
#define INTERRUPT_CONTROL (*(volatile uint32_t*)0xe000ed04u)
#define PRIORITIES (*(volatile uint32_t*)0xe000ed20u)

#define PEND_PENDSV (1u << 28)

struct task {
  StackType_t* top;
  TickType_t wake; /* 0: ready */
  UBaseType_t priority;
  const StackType_t* lowest;
  StackType_t stack[STACK_WORDS] __attribute__((aligned(8)));
};

static struct task tasks[configMAX_TASKS + 1];
static size_t count;
static struct task* current;
static volatile TickType_t ticks;

StackType_t* scheduler_first(void);
StackType_t* scheduler_next(StackType_t* top);
void SysTick_Handler(void);

static void idle(void* argument) {
  (void)argument;
  for (;;) {
    __asm__ volatile("wfi");
  }
}

/* A task must not return. */
static void ended(void) {
  __builtin_trap();
}

static void add(TaskFunction_t function, uint16_t words, void* argument, UBaseType_t priority) {
  struct task* task = &tasks[count++];
  for (size_t i = 0; i < STACK_WORDS; ++i) {
    task->stack[i] = UNUSED;
  }
  task->lowest = task->stack + STACK_WORDS - words;
  StackType_t* frame = task->stack + STACK_WORDS - 8;
  frame[0] = (StackType_t)argument;
  frame[5] = (StackType_t)ended;
  frame[6] = (StackType_t)function;
  frame[7] = THUMB;
  task->top = frame - 9;
  task->top[8] = EXC_RETURN;
  task->priority = priority;
}

BaseType_t xTaskCreate(TaskFunction_t function, const char* name, uint16_t words, void* argument, UBaseType_t priority,
                       TaskHandle_t* handle) {
  (void)name;
  if (count == configMAX_TASKS || words > STACK_WORDS) {
    return pdFAIL;
  }
  if (handle != NULL) {
    *handle = &tasks[count];
  }
  add(function, words, argument, priority + 1u);
  return pdPASS;
}

static void choose(void) {
  struct task* best = NULL;
  for (size_t i = 0; i < count; ++i) {
    if (tasks[i].wake == 0u && (best == NULL || tasks[i].priority > best->priority)) {
      best = &tasks[i];
    }
  }
  current = best;
}

/* Called by the handlers in context.S. The tick starts here: it cannot interrupt this handler, and before it there is no task to be saved. */
StackType_t* scheduler_first(void) {
  SYSTICK_VALUE = 0u;
  SYSTICK_CONTROL = 7u;
  choose();
  return current->top;
}

StackType_t* scheduler_next(StackType_t* top) {
  current->top = top;
  choose();
  return current->top;
}

void SysTick_Handler(void) {
  ++ticks;
  for (size_t i = 0; i < count; ++i) {
    if (tasks[i].wake == ticks) {
      tasks[i].wake = 0u;
    }
  }
  INTERRUPT_CONTROL = PEND_PENDSV;
}

void vTaskDelay(TickType_t delay) {
  __asm__ volatile("cpsid i" ::: "memory");
  current->wake = ticks + (delay == 0u ? 1u : delay);
  INTERRUPT_CONTROL = PEND_PENDSV;
  __asm__ volatile("cpsie i\n\tisb" ::: "memory");
}

UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task) {
  const StackType_t* word = (task == NULL ? current : task)->lowest;
  UBaseType_t left = 0;
  while (word[left] == UNUSED) {
    ++left;
  }
  return left;
}

TickType_t xTaskGetTickCount(void) {
  return ticks;
}

void vTaskStartScheduler(void) {
  add(idle, STACK_WORDS, NULL, 0u);
  PRIORITIES = 0xffff0000u; /* the tick and the change of tasks come after all other interrupts */
  SYSTICK_RELOAD = configCPU_CLOCK_HZ / configTICK_RATE_HZ - 1u;
  __asm__ volatile("cpsie i\n\tsvc 0" ::: "memory");
  __builtin_unreachable();
}
