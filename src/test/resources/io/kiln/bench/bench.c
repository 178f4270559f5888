/* SPDX-License-Identifier: Apache-2.0
 *
 * The bench program: runs the model once for each case, with inputs from the file input.bin and outputs to output.bin (through
 * semihosting), and writes to report.bin three words for each case: what run returned, the clock's ticks, and the bytes of stack that run
 * touched. bench_model.h is generated: buffers, the lists of tensors, bench_map, which fills them, BENCH_RUN, and
 * BENCH_RESET for a model that remembers.
 *
 * The linker script keeps everything in this file apart, so that it does not count for the model.
 */
#include <stdint.h>

#include "bench_model.h"

#define SYS_OPEN 0x01u
#define SYS_CLOSE 0x02u
#define SYS_WRITE 0x05u
#define SYS_READ 0x06u
#define SYS_EXIT_EXTENDED 0x20u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u
#define READ_BINARY 1u
#define WRITE_BINARY 5u

#define PAINT 0xa5a5a5a5u

extern uint32_t bench_stack_bottom[];

int main(void);

#if defined(__riscv)

/* Operation and argument arrive in a0 and a1. The three instructions by which QEMU knows the call are not compressed and on one page. */
uint32_t host(uint32_t operation, const void* argument);
__asm__(
    ".section .text.host, \"ax\"\n\t.balign 16\n\t.option push\n\t.option norvc\n"
    "host:\n\tslli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\tret\n\t"
    ".option pop\n\t.text");

/* The hart counts instructions itself. */
static void clock_start(void) {
}

static inline uint32_t clock_now(void) {
  uint32_t now;
  __asm__ volatile("csrr %0, mcycle" : "=r"(now)::"memory");
  return now;
}

static inline uint32_t clock_between(uint32_t start, uint32_t end) {
  return end - start;
}

__attribute__((naked, noreturn, section(".bench.start"), used)) void bench_start(void) {
  __asm__ volatile(
      "la sp, bench_stack_top\n\t"
      "la t0, bench_data_start\n\tla t1, bench_data_end\n\tla t2, bench_data_load\n\t"
      "j 2f\n1:\tlw t3, 0(t2)\n\tsw t3, 0(t0)\n\taddi t0, t0, 4\n\taddi t2, t2, 4\n2:\tbltu t0, t1, 1b\n\t"
      "la t0, bench_bss_start\n\tla t1, bench_bss_end\n\t"
      "j 4f\n3:\tsw zero, 0(t0)\n\taddi t0, t0, 4\n4:\tbltu t0, t1, 3b\n\t"
      "call main\n\t5: j 5b");
}

#else

static uint32_t host(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

#define SYSTICK(offset) (*(volatile uint32_t*)(0xe000e010u + (offset)))
#define SYSTICK_MASK 0xffffffu

/* Counts down, 24 bits, from the processor's clock. */
static void clock_start(void) {
  SYSTICK(4u) = SYSTICK_MASK;
  SYSTICK(8u) = 0u;
  SYSTICK(0u) = 5u;
}

static inline uint32_t clock_now(void) {
  return SYSTICK(8u);
}

static inline uint32_t clock_between(uint32_t start, uint32_t end) {
  return (start - end) & SYSTICK_MASK;
}

__attribute__((naked, noreturn, used)) void bench_start(void) {
  __asm__ volatile(
      ".syntax unified\n\t"
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
      "ldr r0, =0xe000ed88\n\tldr r1, [r0]\n\tldr r2, =0xf00000\n\torr r1, r1, r2\n\tstr r1, [r0]\n\tdsb\n\tisb\n\t"
#endif
      "ldr r0, =bench_data_start\n\tldr r1, =bench_data_end\n\tldr r2, =bench_data_load\n\t"
      "b 2f\n1:\tldr r3, [r2]\n\tstr r3, [r0]\n\tadds r0, #4\n\tadds r2, #4\n2:\tcmp r0, r1\n\tblo 1b\n\t"
      "ldr r0, =bench_bss_start\n\tldr r1, =bench_bss_end\n\tmovs r2, #0\n\t"
      "b 4f\n3:\tstr r2, [r0]\n\tadds r0, #4\n4:\tcmp r0, r1\n\tblo 3b\n\t"
      "bl main\n5:\tb 5b\n\t.ltorg");
}

__attribute__((noreturn)) static void fault(void) {
  uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, 70u};
  for (;;) {
    host(SYS_EXIT_EXTENDED, block);
  }
}

extern uint32_t bench_stack_top[];

__attribute__((section(".bench.start"), used)) static const void* const vectors[16] = {
    bench_stack_top, (const void*)bench_start, (const void*)fault, (const void*)fault,
    (const void*)fault, (const void*)fault, (const void*)fault,
};

#endif

static uint32_t open_file(const char* name, uint32_t length, uint32_t mode) {
  uint32_t block[3] = {(uint32_t)(uintptr_t)name, mode, length};
  return host(SYS_OPEN, block);
}

static uint32_t transfer(uint32_t operation, uint32_t file, void* bytes, uint32_t size) {
  uint32_t block[3] = {file, (uint32_t)(uintptr_t)bytes, size};
  return host(operation, block);
}

int main(void) {
  uint32_t in = open_file("input.bin", 9u, READ_BINARY);
  uint32_t out = open_file("output.bin", 10u, WRITE_BINARY);
  uint32_t report = open_file("report.bin", 10u, WRITE_BINARY);
  uint32_t leave[2] = {ADP_STOPPED_APPLICATION_EXIT, 0u};
  clock_start();
  bench_map();
  for (int k = 0; k < BENCH_CASES; ++k) {
    for (unsigned i = 0; i < sizeof bench_inputs / sizeof bench_inputs[0]; ++i) {
      transfer(SYS_READ, in, bench_inputs[i].bytes, bench_inputs[i].size);
    }
#ifdef BENCH_RESET
    BENCH_RESET;
#endif
    volatile uint32_t* top;
#if defined(__riscv)
    __asm__ volatile("mv %0, sp" : "=r"(top));
#else
    __asm__ volatile("mov %0, sp" : "=r"(top));
#endif
    for (volatile uint32_t* p = bench_stack_bottom; p < top; ++p) {
      *p = PAINT;
    }
    uint32_t start = clock_now();
    int32_t code = BENCH_RUN;
    uint32_t end = clock_now();
    volatile uint32_t* deepest = bench_stack_bottom;
    while (deepest < top && *deepest == PAINT) {
      ++deepest;
    }
    uint32_t words[3] = {(uint32_t)code, clock_between(start, end), 4u * (uint32_t)(top - deepest)};
    transfer(SYS_WRITE, report, words, sizeof words);
    for (unsigned i = 0; i < sizeof bench_outputs / sizeof bench_outputs[0]; ++i) {
      transfer(SYS_WRITE, out, bench_outputs[i].bytes, bench_outputs[i].size);
    }
  }
  host(SYS_CLOSE, &in);
  host(SYS_CLOSE, &out);
  host(SYS_CLOSE, &report);
  host(SYS_EXIT_EXTENDED, leave);
  for (;;) {
  }
}
