/* A sample times the window, with 14 fraction bits. */
static int32_t windowed(const int16_t* samples, uint32_t index) {
  return @WINDOWED@;
}

/* The product with a factor of 15 fraction bits, rounded; in halves, because small cores have no long product. */
static int32_t times(int32_t value, int32_t factor) {
  return (value >> 16) * factor * 2 + (((value & 0xffff) * factor + 0x4000) >> 15);
}

/* Pairs of samples as complex numbers, in the order of their reversed bits. */
static void load(int32_t* bins, const int16_t* samples) {
  uint32_t place = 0;
  for (uint32_t i = 0; i < @HALF@u; ++i) {
    bins[2u * place] = windowed(samples, 2u * i);
    bins[2u * place + 1u] = windowed(samples, 2u * i + 1u);
    uint32_t bit = @QUARTER@u;
    while ((place & bit) != 0u) {
      place ^= bit;
      bit >>= 1;
    }
    place |= bit;
  }
}

/* Each stage halves, so that nothing overflows. */
static void stages(int32_t* bins) {
  for (uint32_t span = 1; span < @HALF@u; span *= 2u) {
    for (uint32_t k = 0; k < span; ++k) {
      uint32_t twiddle = 2u * k * (@HALF@u / span);
      for (uint32_t block = k; block < @HALF@u; block += 2u * span) {
        int32_t* a = bins + 2u * block;
        int32_t* b = a + 2u * span;
        int32_t re = b[0];
        int32_t im = b[1];
        if (twiddle != 0u) {
          re = times(b[0], twiddles[twiddle]) + times(b[1], twiddles[twiddle + 1u]);
          im = times(b[1], twiddles[twiddle]) - times(b[0], twiddles[twiddle + 1u]);
        }
        b[0] = (a[0] - re + 1) >> 1;
        b[1] = (a[1] - im + 1) >> 1;
        a[0] = (a[0] + re + 1) >> 1;
        a[1] = (a[1] + im + 1) >> 1;
      }
    }
  }
}

/* Even and odd samples were transformed as real and imaginary parts; here they become the bins of the whole frame. */
static void separate(int32_t* bins) {
  int32_t re0 = bins[0];
  int32_t im0 = bins[1];
  bins[0] = re0 + im0;
  bins[1] = 0;
  bins[@FFT@] = re0 - im0;
  bins[@FFT@ + 1] = 0;
  bins[@HALF@ + 1] = -bins[@HALF@ + 1];
  for (uint32_t k = 2; k < @HALF@u; k += 2u) {
    int32_t* a = bins + k;
    int32_t* b = bins + @FFT@u - k;
    int32_t even_re = (a[0] + b[0]) >> 1;
    int32_t even_im = (a[1] - b[1]) >> 1;
    int32_t odd_re = (a[1] + b[1]) >> 1;
    int32_t odd_im = (b[0] - a[0]) >> 1;
    int32_t re = times(odd_re, twiddles[k]) + times(odd_im, twiddles[k + 1u]);
    int32_t im = times(odd_im, twiddles[k]) - times(odd_re, twiddles[k + 1u]);
    a[0] = even_re + re;
    a[1] = even_im + im;
    b[0] = even_re - re;
    b[1] = im - even_im;
  }
}

