/* The spectrum of the samples, in the place of its bins. */
static void spectrum(struct @P@* state) {
  load(state->work.bins, state->samples);
  stages(state->work.bins);
  separate(state->work.bins);
  for (uint32_t k = 0; k < @BINS@u; ++k) {
    int64_t re = state->work.bins[2u * k];
    int64_t im = state->work.bins[2u * k + 1u];
    state->work.spectrum[k] = @SPECTRUM@;
  }
}

