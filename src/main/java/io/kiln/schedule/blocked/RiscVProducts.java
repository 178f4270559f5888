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
        String sum = registers.sum(product % registers.channels(), product / registers.channels());
        asm.line("add %s, %s, %s", sum, sum, product(registers, second, product));
    }

    private static String product(BlockedRiscVRegisters registers, String second, int product) {
        return product % 2 == 0 ? registers.product() : second;
    }
}
