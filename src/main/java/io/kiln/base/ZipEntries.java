// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.InputStream;

/**
 * Counts the entries of a zip before a library reads its directory. The library takes many kilobytes for each entry, which takes 50 bytes
 * in the directory.
 */
public final class ZipEntries {
    /** First bytes of each entry of the directory: APPNOTE.TXT of PKWARE, section 4.3.12. */
    private static final int SIGNATURE = 0x504b0102;

    private static final int BLOCK = 1 << 16;

    private ZipEntries() {}

    /**
     * Whether a zip may have more entries than a limit. Counts the signature of directory entries anywhere in the file; uncompressed
     * content seldom contains it.
     *
     * @param zip read until the answer is known
     */
    public static boolean areMoreThan(int most, InputStream zip) throws IOException {
        byte[] block = new byte[BLOCK];
        int last = 0;
        int found = 0;
        for (int length = zip.read(block); length >= 0; length = zip.read(block)) {
            for (int i = 0; i < length; i++) {
                last = last << Byte.SIZE | (block[i] & 0xff);
                if (last == SIGNATURE && ++found > most) {
                    return true;
                }
            }
        }
        return false;
    }
}
