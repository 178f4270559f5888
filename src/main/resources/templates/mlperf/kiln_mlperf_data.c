/* SPDX-License-Identifier: Apache-2.0
 *
 * Input and results of the model. kiln_mlperf_model.h, which is made for the model, says how:
 *
 *   KILN_MLPERF_BYTES, _ELEMENT    bytes that the host loads, and of one element
 *   KILN_MLPERF_MASK               the loaded bytes are those of the input but for these bits, and lie there
 *   KILN_MLPERF_MAP                bytes of the input for each loaded one; kiln_mlperf_map has them for all values
 *   KILN_MLPERF_INPUT, _SCALE, _ZERO, _LEAST, _MOST    loaded floats become numbers of this type
 *   KILN_MLPERF_RESULTS            number of results
 *   KILN_MLPERF_FIRST              results are 8 bits from this value on; kiln_mlperf_thousandths has their meanings
 *   KILN_MLPERF_OUTPUT, _OUT_SCALE, _OUT_ZERO          the result is how far the output is from the loaded floats
 *
 *   KILN_MLPERF_STREAM             loaded bytes are samples of 16 bits, which kiln_mlperf_stream.c hears
 *
 * Without the last three, results are floats as they are.
 */
#include "kiln_app.h"
#define KILN_MLPERF_TABLES
#include "kiln_mlperf.h"

#define MODEL (&kiln_app_models[0])

const uint32_t kiln_mlperf_bytes = KILN_MLPERF_BYTES;
const uint32_t kiln_mlperf_element = KILN_MLPERF_ELEMENT;
const uint32_t kiln_mlperf_elements = KILN_MLPERF_BYTES / KILN_MLPERF_ELEMENT;

#ifdef KILN_MLPERF_MASK
static uint8_t* input(void) {
  return MODEL->tensor(0);
}

void kiln_mlperf_store(uint32_t at, uint8_t byte) {
  input()[at] = byte ^ KILN_MLPERF_MASK;
}

uint8_t kiln_mlperf_loaded(uint32_t at) {
  return input()[at] ^ KILN_MLPERF_MASK;
}

void kiln_mlperf_convert(void) {}
#else
static union {
  uint8_t bytes[KILN_MLPERF_BYTES];
  float values[(KILN_MLPERF_BYTES + 3u) / 4u];
} loaded;

void kiln_mlperf_store(uint32_t at, uint8_t byte) {
  loaded.bytes[at] = byte;
}

uint8_t kiln_mlperf_loaded(uint32_t at) {
  return loaded.bytes[at];
}
#endif

#ifdef KILN_MLPERF_MAP
void kiln_mlperf_convert(void) {
  uint8_t* to = MODEL->tensor(0);
  for (uint32_t i = 0; i < KILN_MLPERF_BYTES; ++i) {
    for (uint32_t k = 0; k < KILN_MLPERF_MAP; ++k) {
      *to++ = kiln_mlperf_map[loaded.bytes[i] * KILN_MLPERF_MAP + k];
    }
  }
}
#endif

#ifdef KILN_MLPERF_INPUT
/* Half away from zero; what is no number is the least. */
static int32_t rounded(float value) {
  int32_t whole = (int32_t)value;
  float rest = value - (float)whole;
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

void kiln_mlperf_convert(void) {
  const float least = (float)(KILN_MLPERF_LEAST - KILN_MLPERF_ZERO);
  const float most = (float)(KILN_MLPERF_MOST - KILN_MLPERF_ZERO);
  KILN_MLPERF_INPUT* to = (KILN_MLPERF_INPUT*)(void*)MODEL->tensor(0);
  for (uint32_t i = 0; i < KILN_MLPERF_BYTES / 4u; ++i) {
    float value = loaded.values[i] / KILN_MLPERF_SCALE;
    value = value > least ? value : least;
    value = value < most ? value : most;
    to[i] = (KILN_MLPERF_INPUT)(rounded(value) + KILN_MLPERF_ZERO);
  }
}
#endif

#ifndef KILN_MLPERF_STREAM
int32_t kiln_mlperf_run(void) {
  return MODEL->run();
}
#endif

#ifdef KILN_MLPERF_STREAM
#elif defined KILN_MLPERF_FIRST
void kiln_mlperf_results(void) {
  const uint8_t* output = MODEL->tensor(1);
  for (uint32_t i = 0; i < KILN_MLPERF_RESULTS; ++i) {
    int32_t thousandths = kiln_mlperf_thousandths[(uint8_t)(output[i] - KILN_MLPERF_FIRST)];
    if (i != 0u) {
      kiln_mlperf_put(',');
    }
    kiln_mlperf_put_thousandths((uint64_t)(thousandths < 0 ? -thousandths : thousandths), thousandths < 0);
  }
}
#else
#define FRACTION_BITS 23u
#define LARGEST_SHIFT 29

/* A float with three decimals, as printf's %0.3f has it up to 2^52: rounded by its bits, half to even. */
static void put_float(float value) {
  union {
    float value;
    uint32_t bits;
  } parts = {value};
  int is_negative = (parts.bits >> 31) != 0u;
  int32_t exponent = (int32_t)(parts.bits >> FRACTION_BITS & 0xffu);
  uint64_t mantissa = parts.bits & ((1u << FRACTION_BITS) - 1u);
  if (exponent == 0xff) {
    kiln_mlperf_put_text(mantissa != 0u ? "nan" : is_negative != 0 ? "-inf" : "inf");
    return;
  }
  mantissa |= exponent != 0 ? (uint64_t)1 << FRACTION_BITS : 0u;
  int32_t shift = (exponent != 0 ? exponent : 1) - 150;
  uint64_t thousandths = mantissa * 1000u;
  if (shift >= 0) {
    thousandths <<= shift < LARGEST_SHIFT ? shift : LARGEST_SHIFT;
  } else if (shift < -40) {
    thousandths = 0;
  } else {
    uint32_t down = (uint32_t)-shift;
    uint64_t rest = thousandths & (((uint64_t)1 << down) - 1u);
    uint64_t half = (uint64_t)1 << (down - 1u);
    thousandths >>= down;
    thousandths += rest > half || (rest == half && (thousandths & 1u) != 0u);
  }
  kiln_mlperf_put_thousandths(thousandths, is_negative);
}
#endif

#ifdef KILN_MLPERF_OUTPUT
static float loaded_value(uint32_t at) {
#ifdef KILN_MLPERF_MASK
  return ((const float*)(const void*)input())[at];
#else
  return loaded.values[at];
#endif
}

void kiln_mlperf_results(void) {
  const KILN_MLPERF_OUTPUT* output = (const KILN_MLPERF_OUTPUT*)(const void*)MODEL->tensor(1);
  float sum = 0;
  for (uint32_t i = 0; i < KILN_MLPERF_BYTES / 4u; ++i) {
    float difference = KILN_MLPERF_OUT_SCALE * ((float)output[i] - KILN_MLPERF_OUT_ZERO) - loaded_value(i);
    sum += difference * difference;
  }
  put_float(sum / (float)(KILN_MLPERF_BYTES / 4u));
}
#elif !defined KILN_MLPERF_FIRST && !defined KILN_MLPERF_STREAM
void kiln_mlperf_results(void) {
  const float* output = (const float*)(const void*)MODEL->tensor(1);
  for (uint32_t i = 0; i < KILN_MLPERF_RESULTS; ++i) {
    if (i != 0u) {
      kiln_mlperf_put(',');
    }
    put_float(output[i]);
  }
}
#endif
