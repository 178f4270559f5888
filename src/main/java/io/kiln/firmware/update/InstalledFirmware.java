// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.toolchain.board.ModelSlots;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The description that a device's firmware has of itself before the first slot: {@code struct kiln_slots} in {@code kiln_slots.h}.
 *
 * @param slots addresses of the slots
 * @param slotBytes length of each
 * @param memory RAM that is left to the models
 * @param version of the firmware
 * @param board id of the board that it is for
 * @param interfaceDigest digest of the functions and tensors that it calls, in hexadecimal digits
 * @param key the public key that it accepts, 32 bytes
 */
public record InstalledFirmware(
        List<Long> slots,
        long slotBytes,
        Memory memory,
        UpdateVersion version,
        String board,
        String interfaceDigest,
        Bytes key) {
    /** Bytes before the first slot. */
    public static final int BYTES = ModelSlots.FIRMWARE_BYTES;

    /**
     * A range of RAM.
     *
     * @param address its first byte
     * @param bytes its length
     */
    public record Memory(long address, long bytes) {
        /** Whether another range lies in it. */
        boolean holds(Memory other) {
            return other.address >= address && other.address + other.bytes <= address + bytes;
        }
    }

    static final Bytes MAGIC = Bytes.ofText("KILNSLOT");

    private static final int INTERFACE_BYTES = 16;

    public InstalledFirmware {
        slots = List.copyOf(slots);
    }

    /** Reads the bytes before the first slot; empty if there is no firmware with slots. */
    public static Optional<InstalledFirmware> read(Bytes content) {
        ByteBuffer in = content.buffer().order(ByteOrder.LITTLE_ENDIAN);
        if (in.remaining() < BYTES || !Bytes.wrap(take(in, MAGIC.size())).equals(MAGIC)) {
            return Optional.empty();
        }
        List<Long> slots = List.of(word(in), word(in));
        long bytes = word(in);
        Memory memory = new Memory(word(in), word(in));
        UpdateVersion version = UpdateVersion.ofNumber(in.getInt());
        String board = ModelRegion.name(take(in, ModelRegion.NAME_BYTES));
        String digest = HexFormat.of().formatHex(take(in, INTERFACE_BYTES));
        return Optional.of(new InstalledFirmware(
                slots, bytes, memory, version, board, digest, Bytes.wrap(take(in, UpdateKey.PUBLIC_BYTES))));
    }

    private static long word(ByteBuffer in) {
        return Integer.toUnsignedLong(in.getInt());
    }

    private static byte[] take(ByteBuffer in, int bytes) {
        byte[] taken = new byte[bytes];
        in.get(taken);
        return taken;
    }
}
