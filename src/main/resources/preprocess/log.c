/* The logarithm, with 16 fraction bits: position of the highest bit, then a table between whose entries lie straight lines. */
static int32_t value_of(uint64_t energy) {
@OFFSET@@FLOOR@  int32_t exponent = @EXPONENT@;
  while ((energy >> 63) == 0u) {
    energy <<= 1;
    --exponent;
  }
  uint32_t index = (uint32_t)(energy >> 56) & 0x7fu;
  int32_t rest = (int32_t)((energy >> 40) & 0xffffu);
  int32_t between = (logs[index + 1u] - logs[index]) * rest;
  int32_t log = exponent * 65536 + logs[index] + ((between + 0x8000) >> 16);
  return @LOG@;
}

