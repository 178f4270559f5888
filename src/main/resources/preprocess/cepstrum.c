/* A coefficient of the cosine transform of the channels. */
static int32_t coefficient(const int32_t* channels, uint32_t index) {
  const int16_t* factor = cosines + index * @CHANNELS@u;
  int64_t sum = 0x4000;
  for (uint32_t c = 0; c < @CHANNELS@u; ++c) {
    sum += (int64_t)channels[c] * factor[c];
  }
  return (int32_t)(sum >> 15);
}

