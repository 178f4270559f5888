// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.firmware.image.LoadImage.Block;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * UF2 files (Microsoft's USB Flashing Format), which a board's boot loader takes as files on a USB drive: blocks of 512 bytes, each with a page of 256 bytes and
 * its address. Every block names the chip's family, so that another chip refuses it.
 */
public final class Uf2 {
    private static final int BLOCK = 512;
    private static final int PAGE = 256;
    private static final int FIRST_MAGIC = 0x0a324655;
    private static final int SECOND_MAGIC = 0x9e5d5157;
    private static final int LAST_MAGIC = 0x0ab16f30;
    private static final int HAS_FAMILY = 0x2000;
    private static final byte ERASED = (byte) 0xff;

    private Uf2() {}

    /**
     * The file of an image. Bytes of a page outside the image stay erased.
     *
     * @param family number of the chip's family
     */
    public static byte[] of(LoadImage image, long family) {
        TreeMap<Long, byte[]> pages = new TreeMap<>();
        for (Block block : image.blocks()) {
            byte[] content = block.content().toArray();
            for (int i = 0; i < content.length; i++) {
                long address = block.address() + i;
                int offset = (int) (address % PAGE);
                pages.computeIfAbsent(address - offset, page -> erased())[offset] = content[i];
            }
        }
        ByteBuffer out = ByteBuffer.allocate(pages.size() * BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        int number = 0;
        for (Map.Entry<Long, byte[]> page : pages.entrySet()) {
            out.putInt(FIRST_MAGIC).putInt(SECOND_MAGIC).putInt(HAS_FAMILY);
            out.putInt((int) (long) page.getKey()).putInt(PAGE);
            out.putInt(number++).putInt(pages.size()).putInt((int) family);
            out.put(page.getValue());
            out.position(number * BLOCK - Integer.BYTES).putInt(LAST_MAGIC);
        }
        return out.array();
    }

    private static byte[] erased() {
        byte[] page = new byte[PAGE];
        Arrays.fill(page, ERASED);
        return page;
    }
}
