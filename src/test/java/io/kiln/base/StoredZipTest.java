// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.PlainZip.StoredZip;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class StoredZipTest {
    private static final int LENGTH_OF_EXTRA_FIELDS = 28;

    /** The JDK stores an instant, in an extra field, beside a local time that it takes for one before 1980; that depends on the zone. */
    @Test
    void noEntryHasAnInstant() {
        TreeMap<String, Bytes> files = new TreeMap<>();
        files.put("a.txt", Bytes.ofText("abc"));
        byte[] zip = StoredZip.of(files);
        assertThat(zip[LENGTH_OF_EXTRA_FIELDS]).isZero();
        assertThat(zip[LENGTH_OF_EXTRA_FIELDS + 1]).isZero();
    }
}
