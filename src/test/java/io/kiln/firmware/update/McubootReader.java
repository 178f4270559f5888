// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.firmware.update.McubootImage.SignedBy;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads images as MCUboot does, and refuses those that it does not start. */
final class McubootReader {
    private static final int MAGIC = 0x96f3b83d;
    private static final int TRAILER_MAGIC = 0x6907;
    private static final int KEY_HASH = 0x01;
    private static final int SHA256 = 0x10;
    private static final int ED25519 = 0x24;

    private McubootReader() {}

    /**
     * Reads an image and checks its digest.
     *
     * @throws IllegalArgumentException if it is damaged or not an image of MCUboot
     */
    static McubootImage read(Bytes content) {
        ByteBuffer in = content.buffer().order(ByteOrder.LITTLE_ENDIAN);
        try {
            return parsed(in, content);
        } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("it ends early", e);
        }
    }

    /** Whether the owner of a public key of 32 bytes signed an image. */
    static boolean isSignedBy(McubootImage image, Bytes key) {
        byte[] file = image.bytes().toArray();
        byte[] hashed =
                Arrays.copyOf(file, McubootImage.HEADER_BYTES + image.image().size());
        return image.signature()
                .filter(by -> UpdateKey.isSigned(key, sha256(hashed), by.value().toArray()))
                .isPresent();
    }

    private static McubootImage parsed(ByteBuffer in, Bytes content) {
        require(in.getInt() == MAGIC, "its magic is another one");
        in.getInt();
        int header = in.getShort() & 0xffff;
        int protectedBytes = in.getShort() & 0xffff;
        long size = Integer.toUnsignedLong(in.getInt());
        in.getInt();
        UpdateVersion version = new UpdateVersion(in.get() & 0xff, in.get() & 0xff, in.getShort() & 0xffff);
        long end = header + size;
        require(
                header == McubootImage.HEADER_BYTES && protectedBytes == 0 && end <= content.size(),
                "its header does not fit the file");
        byte[] all = content.toArray();
        Map<Integer, Bytes> trailer = trailer(in.position((int) end));
        Bytes digest = Bytes.wrap(sha256(Arrays.copyOf(all, (int) end)));
        require(digest.equals(trailer.get(SHA256)), "its digest is another one");
        Optional<SignedBy> signature = trailer.containsKey(ED25519) && trailer.containsKey(KEY_HASH)
                ? Optional.of(new SignedBy(trailer.get(KEY_HASH), trailer.get(ED25519)))
                : Optional.empty();
        return new McubootImage(version, Bytes.wrap(Arrays.copyOfRange(all, header, (int) end)), signature);
    }

    private static Map<Integer, Bytes> trailer(ByteBuffer in) {
        Map<Integer, Bytes> values = new TreeMap<>();
        int start = in.position();
        require(
                (in.getShort() & 0xffff) == TRAILER_MAGIC && (in.getShort() & 0xffff) == in.capacity() - start,
                "its trailer does not fit the file");
        while (in.hasRemaining()) {
            int type = in.getShort() & 0xffff;
            byte[] value = new byte[in.getShort() & 0xffff];
            in.get(value);
            values.put(type, Bytes.wrap(value));
        }
        return values;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static byte[] sha256(byte[] content) {
        return Digests.newSha256().digest(content);
    }
}
