/* The energy with 31 bits; where it saturates, so does the model's input. */
static int32_t value_of(uint64_t energy) {
  uint64_t value = @SHIFTED@;
  return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

