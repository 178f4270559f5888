// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A whole image in MCUboot's format: a header of 32 bytes padded to {@link #HEADER_BYTES}, the image, then a trailer of types, lengths and
 * values, in little endian (MCUboot, {@code docs/design.md}, section "Image format").
 *
 * @param version of the firmware
 * @param image what is linked for the address behind the header
 * @param signature Ed25519 of the SHA-256 of header and image, with the SHA-256 of the key; empty for an image without signature
 */
public record McubootImage(UpdateVersion version, Bytes image, Optional<SignedBy> signature) {
    /** Bytes before the image: a vector table begins at a multiple of them. */
    public static final int HEADER_BYTES = 0x200;

    private static final int MAGIC = 0x96f3b83d;
    private static final int TRAILER_MAGIC = 0x6907;
    private static final int KEY_HASH = 0x01;
    private static final int SHA256 = 0x10;
    private static final int ED25519 = 0x24;

    /**
     * A signature.
     *
     * @param keyHash SHA-256 of the public key as SubjectPublicKeyInfo in DER
     * @param value 64 bytes
     */
    public record SignedBy(Bytes keyHash, Bytes value) {}

    /** An image, signed if there is a key. */
    public static McubootImage of(Bytes image, UpdateVersion version, Optional<UpdateKey> key) {
        McubootImage plain = new McubootImage(version, image, Optional.empty());
        return key.map(owner -> new McubootImage(
                        version,
                        image,
                        Optional.of(new SignedBy(
                                Bytes.wrap(sha256(owner.publicInfo().toArray())),
                                Bytes.wrap(owner.sign(sha256(plain.hashed())))))))
                .orElse(plain);
    }

    /** The file's content. */
    public Bytes bytes() {
        byte[] hashed = hashed();
        Map<Integer, byte[]> trailer = new TreeMap<>();
        trailer.put(SHA256, sha256(hashed));
        signature.ifPresent(by -> {
            trailer.put(KEY_HASH, by.keyHash.toArray());
            trailer.put(ED25519, by.value.toArray());
        });
        int length = 4
                + trailer.values().stream().mapToInt(value -> 4 + value.length).sum();
        ByteBuffer out = ByteBuffer.allocate(hashed.length + length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(hashed).putShort((short) TRAILER_MAGIC).putShort((short) length);
        // The digest comes first, as boot loaders expect it before what signs it.
        put(out, SHA256, trailer.remove(SHA256));
        trailer.forEach((type, value) -> put(out, type, value));
        return Bytes.wrap(out.array());
    }

    private static void put(ByteBuffer out, int type, byte[] value) {
        out.putShort((short) type).putShort((short) value.length).put(value);
    }

    /** The header and the image: the bytes that digest and signature are made of. */
    private byte[] hashed() {
        ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + image.size()).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(MAGIC)
                .putInt(0) // it runs where it lies
                .putShort((short) HEADER_BYTES)
                .putShort((short) 0) // nothing in the trailer is protected
                .putInt(image.size())
                .putInt(0) // no flags
                .put((byte) version.major())
                .put((byte) version.minor())
                .putShort((short) version.patch())
                .putInt(0); // no number of the build
        out.position(HEADER_BYTES);
        out.put(image.buffer());
        return out.array();
    }

    private static byte[] sha256(byte[] content) {
        MessageDigest digest = Digests.newSha256();
        return digest.digest(content);
    }
}
