// SPDX-License-Identifier: Apache-2.0
// Runs functions of the loop IR, printed above this text, on memory between pages that must not be touched.
// LoopProgram.java writes the file that this program reads and reads the one that it writes.
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 24, ROOM = 1 << 20, GAP = 16 << 20, MAX_SCALARS = 4 };

// What became of a run.
enum { DONE, RETURNED_AN_ERROR, TRAPPED, TOUCHED_OTHER_MEMORY };

struct buffer {
  uint32_t bytes;
  uint32_t begin;  // only bytes [begin, end) may be touched
  uint32_t end;
};

struct run {
  uint32_t function;
  uint32_t buffers;
  uint32_t inputs;   // the first buffers; each step gives their content
  uint32_t scratch;  // index of the first scratch buffer; the one before is the output if there is any
  uint32_t tables;   // index of the first table
  uint32_t steps;
  uint32_t scalars;
  uint32_t zero_scratch;
};

static uint8_t* slots[SLOTS];
static sigjmp_buf before_the_call;
static volatile sig_atomic_t caught;
static uint8_t* volatile touched;

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)context;
  caught = signal == SIGSEGV || signal == SIGBUS ? TOUCHED_OTHER_MEMORY : TRAPPED;
  touched = info->si_addr;
  siglongjmp(before_the_call, 1);
}

static void* need(void* memory) {
  if (memory == NULL || memory == MAP_FAILED) {
    exit(3);
  }
  return memory;
}

static void map_slots(void) {
  size_t all = (size_t)SLOTS * (ROOM + GAP) + GAP;
  uint8_t* start = need(mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  for (size_t i = 0; i < SLOTS; ++i) {
    slots[i] = start + GAP + i * (ROOM + GAP);
    if (mprotect(slots[i], ROOM, PROT_READ | PROT_WRITE) != 0) {
      exit(3);
    }
  }
}

static void catch_signals(void) {
  const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
    sigaction(signals[i], &action, NULL);
  }
}

static void take(const uint8_t** from, void* to, size_t bytes) {
  memcpy(to, *from, bytes);
  *from += bytes;
}

// Buffers lie so that what may be touched ends at a page that must not be touched, or begins behind one.
static void place(const struct run* run, const struct buffer* buffers, int at_the_end, void** place) {
  for (uint32_t i = 0; i < run->buffers; ++i) {
    uint8_t* base = at_the_end ? slots[i] + ROOM - buffers[i].end : slots[i] - buffers[i].begin;
    int is_scratch = i >= run->scratch && i < run->tables;
    uint8_t* low = at_the_end ? base : slots[i];
    size_t length = at_the_end ? buffers[i].end : buffers[i].bytes - buffers[i].begin;
    memset(low, is_scratch && run->zero_scratch ? 0 : at_the_end ? 0x55 : 0xAA, length);
    place[i] = base;
  }
}

static void fill(const struct buffer* buffer, void* place, const uint8_t** data) {
  take(data, (uint8_t*)place + buffer->begin, buffer->end - buffer->begin);
}

static void answer(const struct run* run, const struct buffer* buffers, int status, void** place, FILE* out) {
  int64_t offset = 0;
  uint32_t slot = SLOTS;
  for (uint32_t i = 0; i < run->buffers && status == TOUCHED_OTHER_MEMORY; ++i) {
    if (touched >= slots[i] - GAP / 2 && touched < slots[i] + ROOM + GAP / 2) {
      slot = i;
      offset = touched - (uint8_t*)place[i];
    }
  }
  int32_t head[2] = {status, (int32_t)slot};
  fwrite(head, sizeof head, 1, out);
  fwrite(&offset, sizeof offset, 1, out);
  for (uint32_t i = run->inputs; i < run->scratch; ++i) {
    fwrite((uint8_t*)place[i] + buffers[i].begin, 1, buffers[i].end - buffers[i].begin, out);
  }
}

static int execute(const struct run* run, void** places, const int32_t* scalars) {
  if (sigsetjmp(before_the_call, 0) != 0) {
    return caught;
  }
  return call_function(run->function, places, scalars) == 0 ? DONE : RETURNED_AN_ERROR;
}

static void run_in_both_places(const struct run* run, const struct buffer* buffers, const uint8_t** data, FILE* out) {
  const uint8_t* first = *data;
  for (int at_the_end = 1; at_the_end >= 0; --at_the_end) {
    void* places[SLOTS];
    int status = DONE;
    *data = first;
    place(run, buffers, at_the_end, places);
    for (uint32_t i = run->tables; i < run->buffers; ++i) {
      fill(&buffers[i], places[i], data);
    }
    for (uint32_t step = 0; step < run->steps; ++step) {
      int32_t scalars[MAX_SCALARS];
      for (uint32_t i = 0; i < run->inputs; ++i) {
        fill(&buffers[i], places[i], data);
      }
      take(data, scalars, run->scalars * sizeof scalars[0]);
      if (status == DONE) {
        status = execute(run, places, scalars);
      }
    }
    answer(run, buffers, status, places, out);
  }
}

int main(int argc, char** argv) {
  FILE* in = argc == 3 ? need(fopen(argv[1], "rb")) : NULL;
  FILE* out = argc == 3 ? need(fopen(argv[2], "wb")) : NULL;
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) {
    return 2;
  }
  size_t size = (size_t)ftell(in);
  uint8_t* all = need(malloc(size));
  rewind(in);
  if (fread(all, 1, size, in) != size) {
    return 2;
  }
  map_slots();
  catch_signals();
  for (const uint8_t* data = all; data < all + size;) {
    struct run run;
    struct buffer buffers[SLOTS];
    take(&data, &run, sizeof run);
    if (run.buffers > SLOTS || run.scalars > MAX_SCALARS) {
      return 2;
    }
    take(&data, buffers, run.buffers * sizeof buffers[0]);
    run_in_both_places(&run, buffers, &data, out);
  }
  fclose(in);
  free(all);
  return fclose(out);
}
