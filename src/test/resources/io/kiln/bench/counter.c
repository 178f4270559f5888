/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin of QEMU (its plugin interface, version 1) that counts what a call of the model's entry point executes.
 *
 *   -plugin counter.so,functions=FILE,out=FILE
 *
 * functions: lines "start end index" (hexadecimal addresses, decimal index). The first line is the entry point: counting begins when it is
 * entered and ends when it has returned; each call starts anew, so that the last one is what is written. What lies in no line (kernels that
 * operators share, mem*) counts for the function that ran before it.
 *
 * out: a line "total INSTRUCTIONS", then lines "index start n count taken": the n instructions from start on were executed count times on
 * behalf of function index, and taken times what came next was not what follows in memory.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tb tb;
typedef struct insn insn;
typedef uint64_t plugin_id;

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*callback)(plugin_id id, tb* block));
extern void qemu_plugin_register_vcpu_tb_exec_cb(tb* block, void (*callback)(unsigned cpu, void* data), int flags, void* data);
extern void qemu_plugin_register_atexit_cb(plugin_id id, void (*callback)(plugin_id id, void* data), void* data);
extern size_t qemu_plugin_tb_n_insns(const tb* block);
extern uint64_t qemu_plugin_tb_vaddr(const tb* block);
extern insn* qemu_plugin_tb_get_insn(const tb* block, size_t index);
extern size_t qemu_plugin_insn_size(const insn* instruction);
extern uint64_t qemu_plugin_insn_vaddr(const insn* instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void* info, int argc, char** argv);

#define LINES 1024
#define FUNCTIONS 128
#define NOBODY (-1)

typedef struct {
  uint64_t start;
  uint64_t end;
  int index;
} function;

/* A block as QEMU translated it, with its counts by function. */
typedef struct block {
  struct block* next;
  uint64_t start;
  uint64_t final; /* address of the last instruction */
  uint64_t end;   /* what follows it; up to 2 bytes beyond if QEMU has looked into the next page */
  uint64_t instructions;
  int owner;
  uint64_t counts[FUNCTIONS];
  uint64_t taken[FUNCTIONS];
} block;

static function functions[LINES];
static int function_count;
static block* blocks;
static const char* out_file;

static int counting;
static int current;
static block* last;
static const block* previous;
static const block* caller;
static uint64_t total;

static int owner_of(uint64_t address) {
  for (int i = 0; i < function_count; ++i) {
    if (address >= functions[i].start && address < functions[i].end) {
      return functions[i].index;
    }
  }
  return NOBODY;
}

static int follows(const block* b, const block* before) {
  return b->start > before->final && b->start <= before->end;
}

static void begin(void) {
  for (block* b = blocks; b != NULL; b = b->next) {
    memset(b->counts, 0, sizeof b->counts);
    memset(b->taken, 0, sizeof b->taken);
  }
  counting = 1;
  total = 0;
  last = NULL;
  caller = previous;
}

static void executed(unsigned cpu, void* data) {
  block* b = data;
  (void)cpu;
  if (!counting && b->start == functions[0].start) {
    begin();
  } else if (counting && follows(b, caller)) {
    last->taken[current]++;
    counting = 0;
  }
  previous = b;
  if (counting) {
    if (last != NULL && !follows(b, last)) {
      last->taken[current]++;
    }
    current = b->owner == NOBODY ? current : b->owner;
    b->counts[current]++;
    total += b->instructions;
    last = b;
  }
}

static void translated(plugin_id id, tb* translation) {
  size_t n = qemu_plugin_tb_n_insns(translation);
  const insn* final = qemu_plugin_tb_get_insn(translation, n - 1);
  block* b = calloc(1, sizeof *b);
  (void)id;
  if (b == NULL) {
    abort();
  }
  b->start = qemu_plugin_tb_vaddr(translation);
  b->final = qemu_plugin_insn_vaddr(final);
  b->end = b->final + qemu_plugin_insn_size(final);
  b->instructions = n;
  b->owner = owner_of(b->start);
  b->next = blocks;
  blocks = b;
  qemu_plugin_register_vcpu_tb_exec_cb(translation, executed, 0, b);
}

static void finished(plugin_id id, void* data) {
  FILE* out = fopen(out_file, "w");
  (void)id;
  (void)data;
  if (out == NULL) {
    abort();
  }
  fprintf(out, "total %" PRIu64 "\n", total);
  for (const block* b = blocks; b != NULL; b = b->next) {
    for (int i = 0; i < FUNCTIONS; ++i) {
      if (b->counts[i] != 0) {
        fprintf(out, "%d %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, b->start, b->instructions, b->counts[i],
                b->taken[i]);
      }
    }
  }
  fclose(out);
}

static int read_functions(const char* file) {
  FILE* in = fopen(file, "r");
  function f;
  if (in == NULL) {
    return 0;
  }
  while (fscanf(in, "%" SCNx64 " %" SCNx64 " %d", &f.start, &f.end, &f.index) == 3) {
    if (function_count == LINES || f.index < 0 || f.index >= FUNCTIONS) {
      fclose(in);
      return 0;
    }
    functions[function_count++] = f;
  }
  fclose(in);
  return function_count > 0;
}

int qemu_plugin_install(plugin_id id, const void* info, int argc, char** argv) {
  const char* function_file = NULL;
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "functions=", 10) == 0) {
      function_file = argv[i] + 10;
    } else if (strncmp(argv[i], "out=", 4) == 0) {
      out_file = strdup(argv[i] + 4);
    }
  }
  if (function_file == NULL || out_file == NULL || !read_functions(function_file)) {
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
