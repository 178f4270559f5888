// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.InputStream;

/**
 * Counts the entries of a zip before a library reads its directory. The library takes many kilobytes for each entry, which takes 50 bytes
 * in the directory.
 */
public final class ZipEntries {
    /** Bytes of the signature of a directory's entry, PK12, before the last one: APPNOTE.TXT of PKWARE, section 4.3.12. */
    private static final int BEFORE = 3;

    private static final int BLOCK = 1 << 16;

    private ZipEntries() {}

    /**
     * Whether a zip may have more entries than a limit. Counts the signature of directory entries anywhere in the file; uncompressed
     * content seldom contains it.
     *
     * @param zip read until the answer is known
     */
    public static boolean areMoreThan(int most, InputStream zip) throws IOException {
        byte[] block = new byte[BEFORE + BLOCK];
        int at = BEFORE + BEFORE;
        int found = 0;
        for (int length = zip.read(block, BEFORE, BLOCK); length >= 0; length = zip.read(block, BEFORE, BLOCK)) {
            while (at < BEFORE + length) {
                if (block[at] == 2
                        && block[at - 1] == 1
                        && block[at - 2] == 'K'
                        && block[at - BEFORE] == 'P'
                        && ++found > most) {
                    return true;
                }
                at += step(block[at]);
            }
            at -= length;
            System.arraycopy(block, length, block, 0, BEFORE);
        }
        return false;
    }

    /** How far behind a byte the next signature can end: no two of its bytes are the same. */
    private static int step(byte value) {
        return switch (value) {
            case 1 -> 1;
            case 'K' -> 2;
            case 'P' -> BEFORE;
            default -> BEFORE + 1;
        };
    }
}
