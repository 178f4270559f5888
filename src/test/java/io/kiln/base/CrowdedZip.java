// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A zip that is little more than a directory of entries, of which all are the same empty file. */
public final class CrowdedZip {
    private static final int LOCAL = 0x04034b50;
    private static final int CENTRAL = 0x02014b50;
    private static final int END = 0x06054b50;

    /** Bytes of fixed length in a header of each kind, without the signature. */
    private static final int LOCAL_BYTES = 26;

    private static final int CENTRAL_BYTES = 42;
    private static final int END_BYTES = 18;

    /** Where the headers have the length of the name. */
    private static final int LOCAL_NAME = 26;

    private static final int CENTRAL_NAME = 28;

    private CrowdedZip() {}

    /**
     * A zip.
     *
     * @param name of the entries, before their numbers
     */
    public static byte[] of(int entries, String name) {
        int most = name.length() + 8;
        ByteBuffer out = ByteBuffer.allocate((entries + 2) * (Integer.BYTES + CENTRAL_BYTES + most))
                .order(ByteOrder.LITTLE_ENDIAN);
        header(out, LOCAL, LOCAL_BYTES, LOCAL_NAME, name + 0);
        int directory = out.position();
        for (int i = 0; i < entries; i++) {
            header(out, CENTRAL, CENTRAL_BYTES, CENTRAL_NAME, name + i);
        }
        int end = out.position();
        out.putInt(END).put(new byte[END_BYTES]);
        out.putInt(end + 12, end - directory).putInt(end + 16, directory);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static void header(ByteBuffer out, int signature, int bytes, int lengthAt, String name) {
        int start = out.position();
        out.putInt(signature).put(new byte[bytes]);
        out.putShort(start + lengthAt, (short) name.length());
        out.put(name.getBytes(StandardCharsets.US_ASCII));
    }
}
