/* SPDX-License-Identifier: Apache-2.0
 *
 * The application "mlperf-tiny": obeys one command after the other.
 */
#include "kiln_mlperf.h"

int main(void) {
  kiln_mlperf_begin_time();
  kiln_mlperf_begin();
  for (;;) {
#ifdef KILN_MLPERF_STREAM
    kiln_mlperf_take();
    if (kiln_mlperf_is_waiting() == 0 && kiln_mlperf_hear() != 0) {
      continue;
    }
#endif
    int byte = kiln_mlperf_get();
    if (byte < 0) {
      return 0;
    }
    kiln_mlperf_accept((uint8_t)byte);
  }
}
