// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The fields of a region's header, without digest and signature.
 *
 * @param address of the slot
 * @param version of the models
 * @param minimumFirmware the oldest firmware that it works with
 * @param board id of the board
 * @param models names of the models, separated by commas
 * @param interfaceDigest 16 bytes, see {@link ModelInterface}
 * @param memory the RAM that the models use
 */
record RegionHeader(
        long address,
        UpdateVersion version,
        UpdateVersion minimumFirmware,
        String board,
        String models,
        Bytes interfaceDigest,
        Memory memory) {
    /** Offset of the table of functions, which lies directly behind the header. */
    private static final int FUNCTIONS = ModelRegion.HEADER_BYTES;

    /**
     * The RAM that the models use.
     *
     * @param address its first byte
     * @param bytes its length
     * @param zeroed first byte of the part that is zero at the start
     * @param zeroedBytes length of that part
     */
    record Memory(long address, long bytes, long zeroed, long zeroedBytes) {}

    /**
     * The unsigned region of what was linked for a slot.
     *
     * @param linked what was linked for the slot, with room for the header in front
     */
    ModelRegion before(byte[] linked) {
        int length = (linked.length + ModelRegion.ALIGNMENT - 1) / ModelRegion.ALIGNMENT * ModelRegion.ALIGNMENT;
        ByteBuffer region = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        region.put(linked).position(0);
        region.put(ModelRegion.MAGIC.toArray())
                .putInt(ModelRegion.FORMAT)
                .putInt((int) address)
                .putInt(length)
                .putInt(version.number())
                .putInt(minimumFirmware.number())
                .putInt((int) memory.address)
                .putInt((int) memory.bytes)
                .putInt((int) memory.zeroed)
                .putInt((int) memory.zeroedBytes)
                .putInt(FUNCTIONS)
                .put(name(board))
                .put(name(models))
                .put(interfaceDigest.buffer());
        return ModelRegion.read(region.position(0), "region");
    }

    private static byte[] name(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        byte[] name = new byte[ModelRegion.NAME_BYTES];
        System.arraycopy(bytes, 0, name, 0, Math.min(bytes.length, name.length - 1));
        return name;
    }
}
