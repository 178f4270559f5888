/* The sum that a filter lets through. */
static uint64_t filter(const uint64_t* bins, uint32_t channel) {
  const uint64_t* bin = bins + first_bins[channel];
  uint64_t sum = 0;
  for (uint32_t i = weight_starts[channel]; i < weight_starts[channel + 1u]; ++i) {
    sum += *bin++ * weights[i];
  }
  return sum >> weight_shifts[channel];
}

