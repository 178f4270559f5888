/* The largest integer whose square is not above. */
static uint32_t root(uint64_t square) {
  uint32_t result = 0;
  for (uint32_t bit = UINT32_C(1) << 30; bit != 0u; bit >>= 1) {
    uint64_t next = result | bit;
    if (next * next <= square) {
      result = (uint32_t)next;
    }
  }
  return result;
}

