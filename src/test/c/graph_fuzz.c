/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutated graphs and parameters for the graph executor: graph_fuzz <seed> <cases>. Bytes are cut, doubled, moved, flipped or replaced by ones
 * that mean something in JSON. The sanitizers watch memory; whatever is taken must run or be refused with a text, and give all memory back.
 */
#include "graph_library.h"

#define ROOM 4096u

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 32) % below);
}

/* One change of a text of at least one byte. Returns its new size. */
static uint32_t mutate(uint8_t* bytes, uint32_t size) {
  static const char tokens[] = "{}[]\",:0123456789-e.\\ ";
  uint32_t at = draw(size);
  uint32_t length = 1u + draw(size - at < 24u ? size - at : 24u);
  uint32_t to = draw(size - length + 1u);
  switch (draw(6)) {
    case 0:
      bytes[at] = (uint8_t)(1u << draw(8) ^ bytes[at]);
      return size;
    case 1:
      bytes[at] = (uint8_t)tokens[draw(sizeof(tokens) - 1u)];
      return size;
    case 2:
      memmove(bytes + at, bytes + at + length, size - at - length);
      return size - length > 0u ? size - length : 1u;
    case 3:
      memmove(bytes + to, bytes + at, length);
      return size;
    case 4:
      if (size + length > ROOM) {
        return size;
      }
      memmove(bytes + at + length, bytes + at, size - at);
      return size + length;
    default:
      bytes[at] = (uint8_t)draw(256);
      return size;
  }
}

static uint32_t mutated(uint8_t* to, const void* from, uint32_t size) {
  memcpy(to, from, size);
  for (uint32_t changes = draw(4); changes > 0u; --changes) {
    size = mutate(to, size);
  }
  return size;
}

static uint8_t room[ROOM];

/* A copy that ends where its block does, so that a byte too much is noticed. */
static uint8_t* exactly(uint32_t size, size_t more) {
  uint8_t* copy = (uint8_t*)malloc(size + more);
  EXPECT(copy != NULL);
  memcpy(copy, room, size);
  return copy;
}

/* Returns whether the graph was taken. */
static int one_case(TVMModuleHandle module) {
  TVMGraphExecutor* executor = NULL;
  uint32_t size = mutated(room, graph_json, sizeof(graph_json) - 1u);
  uint8_t* json = exactly(size, 1);
  json[size] = '\0';
  int before = platform_blocks();
  TVMAPISetLastError("");
  int error = TVMGraphExecutor_Create((const char*)json, module, &cpu, &executor);
  EXPECT((error == 0) == (executor != NULL) && (error == 0 || TVMGetLastError()[0] != '\0'));
  if (error == 0) {
    size = mutated(room, parameters, sizeof(parameters));
    uint8_t* blob = exactly(size, 0);
    (void)TVMGraphExecutor_LoadParams(executor, (const char*)blob, size);
    free(blob);
    for (int32_t i = 0; i < TVMGraphExecutor_GetNumOutputs(executor); ++i) {
      TVMNDArray* output = NULL;
      EXPECT(TVMGraphExecutor_Tensor(executor, executor->outputs[i], &output) != 0 || output->dl_tensor.data != NULL);
    }
    EXPECT(TVMGraphExecutor_Release(&executor) == 0);
  }
  EXPECT(platform_blocks() == before);
  free(json);
  return error == 0;
}

int main(int argc, char** argv) {
  EXPECT(argc == 3);
  uint32_t taken = 0;
  TVMModuleHandle module = start();
  random_state = strtoull(argv[1], NULL, 10);
  uint32_t cases = (uint32_t)strtoul(argv[2], NULL, 10);
  for (uint32_t i = 0; i < cases; ++i) {
    taken += (uint32_t)one_case(module);
  }
  /* Both ways have to be gone. */
  EXPECT(taken > cases / 20u && taken < cases - cases / 20u);
  DONE("ok");
  return 0;
}
