// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.firmware.update.InstalledFirmware.Memory;
import io.kiln.toolchain.board.ModelSlots;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.OptionalInt;

/**
 * The code and constants of all models of a firmware, linked for one slot of the flash, behind a header: {@code struct kiln_region} in
 * {@code kiln_region.h}.
 */
public final class ModelRegion {
    public static final int HEADER_BYTES = 256;

    /** The length of a region is a multiple of it. */
    public static final int ALIGNMENT = ModelSlots.ALIGNMENT;

    static final Bytes MAGIC = Bytes.ofText("KILNREGN");
    static final int FORMAT = 1;
    static final int NAME_BYTES = 32;
    private static final int INTERFACE_BYTES = 16;
    private static final int DIGEST_BYTES = 32;
    private static final int SIGNATURE_BYTES = 64;

    private static final int FORMAT_AT = 8;
    private static final int ADDRESS_AT = 12;
    private static final int LENGTH_AT = 16;
    private static final int VERSION_AT = 20;
    private static final int MINIMUM_FIRMWARE_AT = 24;
    private static final int MEMORY_AT = 28;
    private static final int ZEROED_AT = 36;
    private static final int FUNCTIONS_AT = 44;
    private static final int BOARD_AT = 48;
    private static final int MODELS_AT = BOARD_AT + NAME_BYTES;
    private static final int INTERFACE_AT = MODELS_AT + NAME_BYTES;
    private static final int DIGEST_AT = INTERFACE_AT + INTERFACE_BYTES;
    private static final int SIGNATURE_AT = HEADER_BYTES - SIGNATURE_BYTES;

    private final byte[] content;

    private ModelRegion(byte[] content) {
        this.content = content;
    }

    /**
     * Reads the region at the start of some bytes.
     *
     * @param where the file, for messages
     * @throws KilnException if there is none, or it ends early
     */
    public static ModelRegion read(ByteBuffer bytes, String where) {
        ByteBuffer header = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[MAGIC.size()];
        if (header.remaining() < HEADER_BYTES) {
            throw malformed("the file ends inside the header of a region", where);
        }
        header.get(magic);
        if (!Bytes.wrap(magic).equals(MAGIC)) {
            throw malformed("there is no model region", where);
        }
        if (header.getInt(FORMAT_AT) != FORMAT) {
            throw malformed(
                    "the format of a region is " + Integer.toUnsignedString(header.getInt(FORMAT_AT)) + ", not "
                            + FORMAT,
                    where);
        }
        long length = Integer.toUnsignedLong(header.getInt(LENGTH_AT));
        if (length <= HEADER_BYTES || length % ALIGNMENT != 0 || length > header.capacity()) {
            throw malformed("a region states that it has " + length + " bytes", where);
        }
        byte[] content = new byte[(int) length];
        bytes.get(content);
        return new ModelRegion(content);
    }

    /**
     * The length that a header states.
     *
     * @param header at least its 256 bytes
     * @param most the length of a slot
     * @return empty if it is not the header of a region that fits
     */
    public static OptionalInt length(Bytes header, long most) {
        ByteBuffer in = header.buffer().order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[MAGIC.size()];
        in.get(magic);
        long length = Integer.toUnsignedLong(in.getInt(LENGTH_AT));
        boolean isRegion = Bytes.wrap(magic).equals(MAGIC) && in.getInt(FORMAT_AT) == FORMAT;
        return isRegion && length > HEADER_BYTES && length % ALIGNMENT == 0 && length <= most
                ? OptionalInt.of((int) length)
                : OptionalInt.empty();
    }

    private static KilnException malformed(String what, String where) {
        return Failure.UPDATE.exception("not an update: " + what, where, "a file that kiln:link wrote");
    }

    /** The same region, whose header states the digest of its content, with a key's signature. */
    public ModelRegion signed(UpdateKey key) {
        byte[] signed = content.clone();
        System.arraycopy(digest(), 0, signed, DIGEST_AT, DIGEST_BYTES);
        byte[] signature = key.sign(Arrays.copyOf(signed, SIGNATURE_AT));
        System.arraycopy(signature, 0, signed, SIGNATURE_AT, SIGNATURE_BYTES);
        return new ModelRegion(signed);
    }

    /** SHA-512/256 of what lies behind the header. */
    private byte[] digest() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-512/256");
            digest.update(content, HEADER_BYTES, content.length - HEADER_BYTES);
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform since 9 has SHA-512/256", e);
        }
    }

    /** Whether its content has the digest that its header states. */
    public boolean isWhole() {
        return Arrays.equals(digest(), Arrays.copyOfRange(content, DIGEST_AT, DIGEST_AT + DIGEST_BYTES));
    }

    /**
     * Whether the owner of a key signed its header.
     *
     * @param key the public key, 32 bytes
     */
    public boolean isSignedBy(Bytes key) {
        return UpdateKey.isSigned(
                key, Arrays.copyOf(content, SIGNATURE_AT), Arrays.copyOfRange(content, SIGNATURE_AT, HEADER_BYTES));
    }

    /** All bytes of the region, header first. */
    public Bytes bytes() {
        return Bytes.copyOf(content);
    }

    /** The address that it is linked for. */
    public long address() {
        return Integer.toUnsignedLong(word(ADDRESS_AT));
    }

    public UpdateVersion version() {
        return UpdateVersion.ofNumber(word(VERSION_AT));
    }

    /** The oldest firmware that it works with. */
    public UpdateVersion minimumFirmware() {
        return UpdateVersion.ofNumber(word(MINIMUM_FIRMWARE_AT));
    }

    /** Whether its memory lies in the RAM that a firmware leaves to models, and its table of functions behind its header. */
    boolean fits(Memory left) {
        Memory used = memory(MEMORY_AT);
        long functions = Integer.toUnsignedLong(word(FUNCTIONS_AT));
        return left.holds(used)
                && used.holds(memory(ZEROED_AT))
                && functions >= HEADER_BYTES
                && functions < content.length
                && functions % Integer.BYTES == 0;
    }

    private Memory memory(int at) {
        return new Memory(Integer.toUnsignedLong(word(at)), Integer.toUnsignedLong(word(at + Integer.BYTES)));
    }

    /** Id of the board that it is for. */
    public String board() {
        return nameAt(BOARD_AT);
    }

    /** Names of its models, separated by commas; cut off if they are long. */
    public String models() {
        return nameAt(MODELS_AT);
    }

    /** Digest of the functions and tensors of its models, in hexadecimal digits. */
    public String interfaceDigest() {
        return HexFormat.of().formatHex(content, INTERFACE_AT, INTERFACE_AT + INTERFACE_BYTES);
    }

    private int word(int at) {
        return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    private String nameAt(int at) {
        return name(Arrays.copyOfRange(content, at, at + NAME_BYTES));
    }

    /** The text up to the first zero; a question mark stands for a character that is not printable. */
    static String name(byte[] bytes) {
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", "?");
    }
}
