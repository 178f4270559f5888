// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DspDenseKernelTest {
    @Test
    void onlySumsOfUnpackedWeightsAreCrossed() {
        assertThat(DspDenseKernel.crossed(8, true)).containsExactly(1, 3, 5, 7);
        assertThat(DspDenseKernel.crossed(3, true)).containsExactly(1);
        assertThat(DspDenseKernel.crossed(1, true)).isEmpty();
        assertThat(DspDenseKernel.crossed(3, false)).containsExactly(0, 1, 2);
    }
}
