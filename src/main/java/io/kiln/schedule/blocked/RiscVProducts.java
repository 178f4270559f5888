// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;

/** The products of a step on RV32IM, in an order for cores whose multiplier takes several cycles and one product at a time. */
final class RiscVProducts {
    private RiscVProducts() {}

    /**
     * Emits them: each is added while the next one is multiplied, and an input is loaded behind the last product of the one before.
     *
     * @param registers with the step's weights
     * @param second a register for products, beside the product's own
     * @param tap offset of the inputs
     */
    static void interleaved(AsmText asm, BlockedRiscVRegisters registers, String second, int tap) {
        int products = registers.pixels() * registers.channels();
        for (int i = 0; i < products; i++) {
            int channel = i % registers.channels();
            if (channel == 0) {
                asm.line("lb %s, %d(%s)", registers.value(), tap, registers.input(i / registers.channels()));
            }
            asm.line("mul %s, %s, %s", product(registers, second, i), registers.value(), registers.weight(channel));
            if (i > 0) {
                add(asm, registers, second, i - 1);
            }
        }
        add(asm, registers, second, products - 1);
    }

    /** Products between a load and its use. */
    private static final int AHEAD = 2;

    /** Whether there is {@link #ofOnePixel}: weights stay in their registers for {@link #AHEAD} products. */
    static boolean suitsOnePixel(BlockedRiscVRegisters registers) {
        return registers.pixels() == 1 && registers.channels() > AHEAD;
    }

    /**
     * Emits those of several steps of one pixel: inputs and weights are loaded, and products added, while others are multiplied.
     *
     * @param bytes of an input, 1 or 2
     */
    static void ofOnePixel(AsmText asm, BlockedRiscVRegisters registers, int taps, int bytes) {
        int products = taps * registers.channels();
        for (int i = 0; i < AHEAD; i++) {
            load(asm, registers, i, bytes);
        }
        for (int i = 0; i < products; i++) {
            int channel = i % registers.channels();
            asm.line(
                    "mul %s, %s, %s",
                    product(registers, registers.spare(), i),
                    registers.value(i / registers.channels()),
                    registers.weight(channel));
            if (i + AHEAD < products) {
                load(asm, registers, i + AHEAD, bytes);
            }
            if (i > 0) {
                add(asm, registers, registers.spare(), i - 1);
            }
        }
        add(asm, registers, registers.spare(), products - 1);
    }

    private static void load(AsmText asm, BlockedRiscVRegisters registers, int product, int bytes) {
        int tap = product / registers.channels();
        int channel = product % registers.channels();
        if (channel == 0) {
            String load = bytes == 1 ? "lb" : "lh";
            asm.line("%s %s, %d(%s)", load, registers.value(tap), tap * bytes, registers.input(0));
        }
        asm.line("lb %s, %d(%s)", registers.weight(channel), product, registers.weights());
    }

    /**
     * Emits them one after the other.
     *
     * @param first whether they are the first ones of the sums
     */
    static void plain(AsmText asm, BlockedRiscVRegisters registers, int tap, boolean first) {
        for (int p = 0; p < registers.pixels(); p++) {
            asm.line("lb %s, %d(%s)", registers.value(), tap, registers.input(p));
            for (int c = 0; c < registers.channels(); c++) {
                String sum = registers.sum(c, p);
                String product = first ? sum : registers.product();
                asm.line("mul %s, %s, %s", product, registers.value(), registers.weight(c));
                if (!first) {
                    asm.line("add %s, %s, %s", sum, sum, product);
                }
            }
        }
    }

    private static void add(AsmText asm, BlockedRiscVRegisters registers, String second, int product) {
        int pixel = product / registers.channels() % registers.pixels();
        String sum = registers.sum(product % registers.channels(), pixel);
        asm.line("add %s, %s, %s", sum, sum, product(registers, second, product));
    }

    private static String product(BlockedRiscVRegisters registers, String second, int product) {
        return product % 2 == 0 ? registers.product() : second;
    }
}
