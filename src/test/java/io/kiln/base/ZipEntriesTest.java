// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.PlainZip.ZipEntries;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ZipEntriesTest {
    private static final int BLOCK = 1 << 16;

    /** Random texts of the signature's own bytes, read in pieces of any length, against a search at every place. */
    @Test
    void everySignatureCountsWhereverItLies() throws IOException {
        Random random = new Random(20_261_130);
        for (int run = 0; run < 40; run++) {
            byte[] bytes = new byte[BLOCK + random.nextInt(100)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = new byte[] {'P', 'K', 1, 2, 0}[random.nextInt(run % 2 == 0 ? 4 : 5)];
            }
            int count = 0;
            for (int i = 0; i + 3 < bytes.length; i++) {
                count += bytes[i] == 'P' && bytes[i + 1] == 'K' && bytes[i + 2] == 1 && bytes[i + 3] == 2 ? 1 : 0;
            }
            assertThat(count).isPositive();
            assertThat(ZipEntries.areMoreThan(count - 1, pieces(bytes, random))).isTrue();
            assertThat(ZipEntries.areMoreThan(count, pieces(bytes, random))).isFalse();
        }
    }

    private static InputStream pieces(byte[] bytes, Random random) {
        return new FilterInputStream(new ByteArrayInputStream(bytes)) {
            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(random.nextBoolean() ? 5 : BLOCK)));
            }
        };
    }
}
