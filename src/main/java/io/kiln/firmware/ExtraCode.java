// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Generated code beside the models, and the linker script that it needs.
 *
 * @param isAlone whether the image consists of it and the models, without start-up code and application
 * @param folder folder of its headers; empty if it has none
 * @param files by path in the C project; the sources are compiled like Kiln's own, for size
 * @param linkerScript name in the board's folder, in place of the board's own
 */
public record ExtraCode(
        boolean isAlone, Optional<String> folder, SortedMap<String, Bytes> files, Optional<String> linkerScript) {
    /** No generated code. */
    public static final ExtraCode NONE = new ExtraCode(false, Optional.empty(), new TreeMap<>(), Optional.empty());

    public ExtraCode {
        files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    }
}
