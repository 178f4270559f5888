// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;

/**
 * {@link SumsKernel} for RV32IM. The taps left over by steps of four are summed before the loop.
 *
 * <pre>
 * registers: those of {@link BlockedRiscVRegisters}
 * stack: callee-saved registers, sums
 * </pre>
 *
 * @param pixels at most 4
 * @param channels at most 16 sums
 * @param interleaved whether a product is added while the next one is multiplied; needs a register more
 * @param bytes of an input: 1, or 2 of one pixel if interleaved and of more than two channels
 */
record SumsRiscV(int pixels, int channels, boolean interleaved, int bytes) {
    private static final int UNROLL = 4;
    private static final int SUMS = 52;
    private static final int FRAME = 64;

    private BlockedRiscVRegisters registers() {
        return new BlockedRiscVRegisters(pixels, channels);
    }

    String lines() {
        AsmText asm = new AsmText();
        enter(asm);
        String first = registers().input(0);
        String end = registers().end();
        String rest = registers().product();
        asm.line("1:");
        asm.line("sub %s, %s, %s", rest, end, first);
        asm.line("andi %s, %s, %d", rest, rest, (UNROLL - 1) * bytes);
        asm.line("beqz %s, 2f", rest);
        steps(asm, 1);
        advance(asm, 1);
        asm.line("j 1b");
        asm.line("2:");
        asm.line("beq %s, %s, 4f", first, end);
        asm.line("3:");
        steps(asm, UNROLL);
        advance(asm, UNROLL);
        asm.line("bne %s, %s, 3b", first, end);
        asm.line("4:");
        leave(asm);
        return asm.lines();
    }

    /** Arguments lie in a0 to a4, which become inputs and more. */
    private void enter(AsmText asm) {
        asm.line("addi sp, sp, -%d", FRAME);
        for (int i = 0; i < BlockedRiscVRegisters.SAVED.size(); i++) {
            asm.line("sw %s, %d(sp)", BlockedRiscVRegisters.SAVED.get(i), 4 * i);
        }
        asm.line("sw a2, %d(sp)", SUMS);
        asm.line("mv t0, a1");
        asm.line("mv t1, a3");
        asm.line(bytes == 1 ? "mv t2, a4" : "slli t2, a4, 1");
        for (int p = 1; p < pixels; p++) {
            asm.line("add %s, %s, t1", registers().input(p), registers().input(p - 1));
        }
        asm.line("mv %s, t0", registers().weights());
        asm.line("add %s, %s, t2", registers().end(), registers().input(0));
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                asm.line("li %s, 0", registers().sum(c, p));
            }
        }
    }

    private void steps(AsmText asm, int taps) {
        if (interleaved && RiscVProducts.suitsOnePixel(registers())) {
            RiscVProducts.ofOnePixel(asm, registers(), taps, bytes);
            return;
        }
        for (int tap = 0; tap < taps; tap++) {
            step(asm, tap);
        }
    }

    private void step(AsmText asm, int tap) {
        for (int c = 0; c < channels; c++) {
            asm.line(
                    "lb %s, %d(%s)",
                    registers().weight(c), tap * channels + c, registers().weights());
        }
        if (interleaved) {
            RiscVProducts.interleaved(asm, registers(), registers().spare(), tap);
            return;
        }
        for (int p = 0; p < pixels; p++) {
            asm.line("lb %s, %d(%s)", registers().value(), tap, registers().input(p));
            for (int c = 0; c < channels; c++) {
                String product = registers().product();
                asm.line(
                        "mul %s, %s, %s",
                        product, registers().value(), registers().weight(c));
                asm.line("add %s, %s, %s", registers().sum(c, p), registers().sum(c, p), product);
            }
        }
    }

    private void advance(AsmText asm, int taps) {
        for (int p = 0; p < pixels; p++) {
            asm.line("addi %s, %s, %d", registers().input(p), registers().input(p), taps * bytes);
        }
        asm.line("addi %s, %s, %d", registers().weights(), registers().weights(), taps * channels);
    }

    private void leave(AsmText asm) {
        asm.line("lw %s, %d(sp)", registers().product(), SUMS);
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                asm.line(
                        "sw %s, %d(%s)",
                        registers().sum(c, p), 4 * (c * pixels + p), registers().product());
            }
        }
        for (int i = 0; i < BlockedRiscVRegisters.SAVED.size(); i++) {
            asm.line("lw %s, %d(sp)", BlockedRiscVRegisters.SAVED.get(i), 4 * i);
        }
        asm.line("addi sp, sp, %d", FRAME);
        asm.line("ret");
    }
}
