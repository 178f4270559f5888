void @P@_init(struct @P@* state) {
  state->filled = 0;
@INIT@}

uint32_t @P@_feed(struct @P@* state, const int16_t* samples, uint32_t count) {
  uint32_t taken = 0;
  while (taken < count && state->filled < @WINDOW@u) {
    int32_t sample = samples[taken++];
@TAKE@    state->samples[state->filled++] = (int16_t)sample;
  }
  return taken;
}

