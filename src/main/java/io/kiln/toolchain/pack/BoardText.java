// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

/** Numbers as board profiles and linker scripts write them. */
final class BoardText {
    private static final long KIB = 1024;

    private BoardText() {}

    /** Bytes, in K or M if they are whole. */
    static String size(long bytes) {
        if (bytes % (KIB * KIB) == 0 && bytes > 0) {
            return bytes / (KIB * KIB) + "M";
        }
        return bytes % KIB == 0 ? bytes / KIB + "K" : String.valueOf(bytes);
    }
}
