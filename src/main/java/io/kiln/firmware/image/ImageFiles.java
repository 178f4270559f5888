// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.firmware.image.ImageFiles.LoadImage.Block;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The files of an image, side by side: {@code <base>.elf}, {@code .bin}, {@code .hex} and {@code .map}, and {@code .uf2} for boards that take it.
 *
 * @param folder the folder of the files
 * @param base their name without extension
 * @param parts folder on the same file system, for unfinished files
 * @param uf2Family the chip's family, if its boot loader takes UF2 files
 */
public record ImageFiles(Path folder, String base, Path parts, OptionalLong uf2Family, Log log) {
    private static final String ELF = ".elf";
    private static final List<String> EXTENSIONS = List.of(".bin", ".hex", ".uf2", ".map", ELF);

    public Path file(String extension) {
        return folder.resolve(base + "." + extension);
    }

    /**
     * Writes every file under another name first, so that only renaming can still fail.
     *
     * @return digests by file name
     */
    public Map<String, String> publish(Path elf, Path map, boolean isHost) {
        Map<String, String> digests = new TreeMap<>();
        try {
            Map<String, byte[]> contents = contents(elf, map, isHost);
            Files.createDirectories(folder);
            contents.forEach((name, content) -> {
                if (name.equals(base + ELF)) {
                    WholeFiles.writeProgram(part(name), content);
                } else {
                    WholeFiles.write(part(name), content);
                }
            });
            Files.deleteIfExists(file("bin"));
            Files.deleteIfExists(file("uf2"));
            for (Map.Entry<String, byte[]> file : contents.entrySet()) {
                Files.move(
                        part(file.getKey()),
                        folder.resolve(file.getKey()),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
                digests.put(file.getKey(), Digests.sha256(file.getValue()));
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot write the image", folder, e);
        } finally {
            EXTENSIONS.forEach(extension -> part(base + extension).toFile().delete());
        }
        return digests;
    }

    private Map<String, byte[]> contents(Path elf, Path map, boolean isHost) throws IOException {
        Map<String, byte[]> contents = new LinkedHashMap<>();
        if (!isHost) {
            LoadImage load = LoadImage.of(ElfFile.read(elf));
            load.binary()
                    .ifPresentOrElse(
                            bytes -> contents.put(base + ".bin", bytes),
                            () -> log.info("No flat binary: the image's memories lie too far apart"));
            contents.put(base + ".hex", load.intelHex());
            uf2Family.ifPresent(family -> contents.put(base + ".uf2", Uf2.of(load, family)));
        }
        contents.put(base + ".map", Files.isRegularFile(map) ? Files.readAllBytes(map) : new byte[0]);
        contents.put(base + ELF, Files.readAllBytes(elf));
        return contents;
    }

    private Path part(String name) {
        return parts.resolve(name + ".part");
    }

    /** The image made of existing files. */
    public Image image(Set<String> names, Measurement measurement, boolean relinked) {
        return new Image(
                file("elf"),
                Optional.of(file("bin")).filter(file -> names.contains(base + ".bin")),
                Optional.of(file("hex")).filter(file -> names.contains(base + ".hex")),
                file("map"),
                measurement,
                relinked);
    }

    /**
     * A linked image that fits the board's memory.
     *
     * @param elf the executable
     * @param bin flat binary; empty for the board {@code host}, or if the memories are too far apart
     * @param hex Intel HEX; empty for the board {@code host}
     * @param map the linker's map
     * @param measurement how much memory it takes
     * @param relinked whether this build made it, rather than an earlier one
     */
    public record Image(
            Path elf, Optional<Path> bin, Optional<Path> hex, Path map, Measurement measurement, boolean relinked) {
        public List<Path> files() {
            return Stream.of(Optional.of(elf), bin, hex, Optional.of(map))
                    .flatMap(Optional::stream)
                    .toList();
        }
    }

    /**
     * UF2 files (Microsoft's USB Flashing Format), which a board's boot loader takes as files on a USB drive: blocks of 512 bytes, each with a page of 256 bytes and
     * its address. Every block names the chip's family, so that another chip refuses it.
     */
    public static final class Uf2 {
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
                    int length =
                            Math.min(Math.min(BYTES_PER_RECORD, block.content().size() - done), toBoundary);
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
}
