// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The content of memory before an image runs: blocks of bytes at load addresses, ascending. Kiln writes the files
 * itself instead of calling objcopy, so that all toolchains give the same files.
 *
 * @param blocks blocks that do not overlap
 * @param entry address of the first instruction
 */
public record LoadImage(List<Block> blocks, long entry) {
    /** Largest flat binary in bytes: a larger one would be mostly gap; HEX or ELF are better for memories far apart. */
    private static final long LARGEST_BINARY = 64L << 20;

    /** Number of addresses, which have 32 bits, as in Intel HEX. */
    private static final long ADDRESSES = 1L << 32;

    private static final byte ERASED = (byte) 0xff;
    private static final int BYTES_PER_RECORD = 16;

    public LoadImage {
        blocks = List.copyOf(blocks);
    }

    /** A block of bytes at a load address. */
    public record Block(long address, Bytes content) {
        long end() {
            return address + content.size();
        }
    }

    /**
     * All allocated sections with content, at their load addresses.
     *
     * @throws KilnException if parts of the image overlap, or lie beyond 32-bit addresses
     */
    public static LoadImage of(ElfFile elf) {
        List<Block> blocks = new ArrayList<>();
        long room = elf.content().limit();
        for (Section section : elf.sections()) {
            if (section.isAllocated() && section.hasContent()) {
                room -= section.size();
                if (room < 0) {
                    throw Failure.CODE.exception("sections overlap in the file", section.name());
                }
                blocks.add(new Block(elf.loadAddress(section), Bytes.wrap(elf.bytes(section))));
            }
        }
        blocks.sort(Comparator.comparingLong(Block::address));
        long end = 0;
        for (Block block : blocks) {
            if (block.address() < end || block.end() > ADDRESSES) {
                throw Failure.CODE.exception(
                        String.format(
                                Locale.ROOT,
                                "the %d bytes for address 0x%x overlap others or lie beyond 32 bits",
                                block.content().size(),
                                block.address()),
                        "ELF file");
            }
            end = block.end();
        }
        return new LoadImage(blocks, elf.entry());
    }

    /** The flat binary from the lowest address to the highest, gaps filled with 0xFF like erased flash; empty if it would exceed 64 MiB. */
    public Optional<byte[]> binary() {
        if (blocks.isEmpty()) {
            return Optional.empty();
        }
        long start = blocks.get(0).address();
        long end = blocks.stream().mapToLong(Block::end).max().orElse(start);
        if (end - start > LARGEST_BINARY) {
            return Optional.empty();
        }
        byte[] binary = new byte[(int) (end - start)];
        Arrays.fill(binary, ERASED);
        for (Block block : blocks) {
            block.content()
                    .buffer()
                    .get(
                            binary,
                            (int) (block.address() - start),
                            block.content().size());
        }
        return Optional.of(binary);
    }

    /**
     * Intel HEX (Intel's specification of 1988): data records of at most 16 bytes, extended linear address records where the
     * upper half of the address changes, the start address, end of file.
     */
    public byte[] intelHex() {
        StringBuilder out = new StringBuilder();
        long upper = 0;
        for (Block block : blocks) {
            int done = 0;
            while (done < block.content().size()) {
                long address = block.address() + done;
                if (address >>> 16 != upper) {
                    upper = address >>> 16;
                    record(out, 4, 0, new byte[] {(byte) (upper >>> 8), (byte) upper});
                }
                int toBoundary = (int) (0x10000 - (address & 0xffff));
                int length = Math.min(Math.min(BYTES_PER_RECORD, block.content().size() - done), toBoundary);
                byte[] data = new byte[length];
                block.content().buffer().get(done, data);
                record(out, 0, (int) (address & 0xffff), data);
                done += length;
            }
        }
        byte[] start = {(byte) (entry >>> 24), (byte) (entry >>> 16), (byte) (entry >>> 8), (byte) entry};
        record(out, 5, 0, start);
        record(out, 1, 0, new byte[0]);
        return out.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void record(StringBuilder out, int type, int offset, byte[] data) {
        byte[] head = {(byte) data.length, (byte) (offset >>> 8), (byte) offset, (byte) type};
        int sum = 0;
        for (byte[] part : List.of(head, data)) {
            for (byte value : part) {
                sum += value;
            }
        }
        HexFormat hex = HexFormat.of().withUpperCase();
        out.append(':').append(hex.formatHex(head)).append(hex.formatHex(data));
        out.append(hex.toHexDigits((byte) -sum)).append('\n');
    }
}
