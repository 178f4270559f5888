/* A feature as the model's input takes it. */
static @TYPE@ quantized(int32_t value@INDEX_PARAMETER@) {
  int64_t steps = ((((int64_t)value - @MEAN@) * @MANTISSA@ + @HALF_STEP@) >> @SHIFT@) @ZERO_POINT@;
  return (@TYPE@)(steps < @LOW@ ? @LOW@ : steps > @HIGH@ ? @HIGH@ : steps);
}

int32_t @P@_next(struct @P@* state, @TYPE@* row) {
  if (state->filled < @WINDOW@u) {
    return 0;
  }
  spectrum(state);
@CHANNEL_LOOP@  for (uint32_t i = 0; i < @FEATURES@u; ++i) {
    row[i] = quantized(@FEATURE@@INDEX_ARGUMENT@);
  }
@ADVANCE@  return 1;
}

void @P@_run(struct @P@* state, const int16_t* samples, @TYPE@* input) {
  @P@_init(state);
  for (uint32_t frame = 0; frame < @FRAMES@u; ++frame) {
    samples += @P@_feed(state, samples, @SAMPLES@u);
    (void)@P@_next(state, input + frame * @FEATURES@u);
  }
}
