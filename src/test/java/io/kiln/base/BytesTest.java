// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BytesTest {
    private static final Bytes PART =
            Bytes.wrap(new byte[] {9, 1, -2, 3, -128, 127, -1, 0}).part(1, 6);

    @Test
    void readsIntegersAsAViewDoes() {
        for (int index = 0; index <= 2; index++) {
            assertThat(PART.int32(index)).isEqualTo(PART.buffer().getInt(index));
        }
    }

    @Test
    void readsNothingBehindAPart() {
        assertThatThrownBy(() -> PART.int32(3)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> PART.int32(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
