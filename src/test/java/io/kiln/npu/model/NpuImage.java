// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/** Sources of an image with the model of the NPU, which tells of each operation on the console as the traces do. */
public final class NpuImage {
    private static final long SEED = 20260403;

    private NpuImage() {}

    /** Operations of all kinds; the result are the checksums that they must have. */
    public static List<String> ofOperations(Path folder, int config) {
        NpuDraw draw = new NpuDraw(config, new Random(SEED));
        for (int i = 0; i < 3; i++) {
            draw.convolution(false);
            draw.convolution(true);
            draw.pool(i);
            draw.elementwise();
            draw.elementwise();
        }
        Bytes arena = draw.arena();
        write(folder, config, draw.flash(), draw.payload(), arena, new int[] {arena.size(), 16, 0});
        return draw.drawn().stream().map(NpuImage::checksum).toList();
    }

    private static String checksum(NpuDraw.Drawn drawn) {
        CRC32 crc = new CRC32();
        for (long value : drawn.expected()) {
            IntStream.range(0, drawn.ofm().type().bytes()).forEach(i -> crc.update((int) (value >> (8 * i))));
        }
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }

    /** A file of Vela's with its input. */
    public static void of(Path folder, VelaFile file, Bytes input) {
        write(
                folder,
                file.config(),
                Bytes.wrap(file.flash()),
                Bytes.wrap(file.payloads().get(0)),
                input,
                new int[] {file.arena(), file.fastBytes(), file.inputs().get(0).offset()});
    }

    /** Sizes of the arena and of the fast memory, and where the content begins. */
    private static void write(Path folder, int config, Bytes flash, Bytes payload, Bytes content, int[] sizes) {
        ResourceTree.read("npu").forEach((name, text) -> WholeFiles.write(folder.resolve(name), text.toArray()));
        WholeFiles.write(folder.resolve("main.c"), NpuHost.read(Path.of("src", "test", "c", "ethosu_image.c")));
        WholeFiles.write(
                folder.resolve("npu_data.h"),
                "#define NPU_CONFIG " + config + "u\n#define ARENA_BYTES " + sizes[0] + "\n#define FAST_BYTES "
                        + sizes[1] + "\n#define CONTENT_AT " + sizes[2] + "\n" + array("flash", flash)
                        + array("payload", payload) + array("content", content));
    }

    private static String array(String name, Bytes content) {
        return "static const uint8_t " + name + "[] __attribute__((aligned(16))) = {" + list(content) + "};\n";
    }

    private static String list(Bytes bytes) {
        return IntStream.range(0, bytes.size())
                .mapToObj(i -> Integer.toString(bytes.get(i) & 0xff))
                .collect(Collectors.joining(","));
    }
}
