// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Which NPU a command stream is for, as the optimizer configuration of a payload says.
 *
 * @param macs multiply-accumulates in a cycle
 * @param streamVersion version of the command stream's format
 * @param shramKib KiB of the NPU's own memory
 * @param customDma whether the stream needs a DMA engine of the chip's own
 * @param release the architecture's release
 */
public record NpuConfiguration(
        Product product, int macs, int streamVersion, int shramKib, boolean customDma, Release release) {
    /** All that boards may have, in the order of products. */
    public static final List<String> NAMES = List.of(
            "ethos-u55-32",
            "ethos-u55-64",
            "ethos-u55-128",
            "ethos-u55-256",
            "ethos-u65-256",
            "ethos-u65-512",
            "ethos-u85-128",
            "ethos-u85-256",
            "ethos-u85-512",
            "ethos-u85-1024",
            "ethos-u85-2048");

    /** Arm's products, by their number in the configuration word. */
    public enum Product {
        U55,
        U65,
        U85;

        /** Its name, such as {@code ethos-u55}. */
        public String text() {
            return "ethos-" + name().toLowerCase(Locale.ROOT);
        }

        /** The product of a name such as {@code ethos-u55}. */
        public static Optional<Product> named(String name) {
            return List.of(values()).stream()
                    .filter(product -> product.text().equals(name))
                    .findFirst();
        }
    }

    /** Release of the architecture: a driver wants an NPU of the same major number, and of no smaller minor one. */
    public record Release(int major, int minor, int patch) {
        @Override
        public String toString() {
            return major + "." + minor + "." + patch;
        }
    }

    /**
     * The configuration in two words of a payload.
     *
     * @return empty if no product has the number
     */
    static Optional<NpuConfiguration> of(int config, int id) {
        int product = config >>> 28;
        return product >= Product.values().length
                ? Optional.empty()
                : Optional.of(new NpuConfiguration(
                        Product.values()[product],
                        1 << (config & 0xF),
                        config >>> 4 & 0xF,
                        config >>> 8 & 0xFF,
                        (config >>> 27 & 1) != 0,
                        new Release(id >>> 28, id >>> 20 & 0xFF, id >>> 16 & 0xF)));
    }

    /** Its name as Vela's {@code --accelerator-config} has it, such as {@code ethos-u55-128}. */
    public String name() {
        return product.text() + "-" + macs;
    }

    /** The word of a payload that says it. */
    public int word() {
        return Integer.numberOfTrailingZeros(macs)
                | streamVersion << 4
                | shramKib << 8
                | (customDma ? 1 << 27 : 0)
                | List.of(Product.values()).indexOf(product) << 28;
    }

    /** Number of its cores. */
    public int cores() {
        return product == Product.U65 && macs == 512 ? 2 : 1;
    }

    /** Names that are near to a word, for messages. */
    public static String names(Product product) {
        return NAMES.stream().filter(name -> name.startsWith(product.text())).collect(Collectors.joining(", "));
    }
}
