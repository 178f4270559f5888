// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.RiscVRescale;
import io.kiln.schedule.parts.ScalarRescale;
import java.util.List;

/**
 * {@link BlockedKernel} for RV32IM. A step of 4 pixels and 4 channels is 40 instructions for 16 products: 8 LB, 16 MUL,
 * 16 ADD; one of 5 pixels and 3 channels is 38 for 15. The first step only multiplies; it then jumps into the unrolled
 * loop at the place that gives the right number of steps. Instructions are not compressed, so that all steps have the
 * same length.
 *
 * <pre>
 * registers while summing: sums, inputs of each pixel, weights, their end, an input and the weights of a step, a product
 * registers while storing: sums, weights, outputs of each pixel, lower limit before and after the shift, upper limit, shift, channels left
 * stack: see the constants below, callee-saved registers, then the arguments: scale, shift, what the correction needs, limits
 * </pre>
 *
 * @param pixels number of pixels in a block
 * @param channels number of channels in a block
 * @param unroll number of unrolled steps, a power of two
 * @param packed whether weights come in pairs: 2 LB of a step then become 4 shifts
 * @param interleaved whether a product is added while the next one is multiplied, in the register of the weights' end
 */
record BlockedRiscV(int pixels, int channels, int unroll, boolean packed, boolean interleaved)
        implements BlockedAssembly {
    private static final int INPUT = 0;
    private static final int STRIDE = 4;
    private static final int END = 8;
    private static final int SKIP = 12;
    private static final int SKIP_WEIGHTS = 16;
    private static final int ENTRY = 20;
    private static final int CONSTANTS = 24;
    private static final int OUT = 28;
    private static final int OUT_STRIDE = 32;
    private static final int REST = 36;
    private static final int LOWEST = 40;
    private static final int HIGHEST = 44;
    private static final int SAVED = 48;
    private static final int FRAME = 112;
    private static final int SCALE = FRAME;
    private static final int SHIFT = FRAME + 4;
    private static final int CORRECTION = FRAME + 8;
    private static final int INSTRUCTION = 4;
    /** First label number for results below the lower limit. */
    private static final int LOW_LABEL = 100;

    private BlockedRiscVRegisters registers() {
        return new BlockedRiscVRegisters(pixels, channels);
    }

    @Override
    public String condition() {
        return AsmText.RV32_MUL;
    }

    @Override
    public boolean shiftsSums() {
        return true;
    }

    @Override
    public String lines(ScalarRescale rescale) {
        AsmText asm = new AsmText();
        asm.line(".option push");
        asm.line(".option norvc");
        enter(asm, rescale);
        asm.line("1:");
        start(asm);
        asm.line("2:");
        for (int i = 0; i < unroll; i++) {
            step(asm, i, false);
        }
        asm.line("3:");
        for (int p = 0; p < pixels; p++) {
            asm.line("addi %s, %s, %d", registers().input(p), registers().input(p), unroll);
        }
        asm.line("addi %s, %s, %d", registers().weights(), registers().weights(), unroll * weightBytes());
        if (interleaved) {
            end(asm);
        }
        asm.line("bne %s, %s, 2b", registers().input(0), registers().end());
        if (packed) {
            takeApart(asm);
        }
        rescale(asm, rescale.correction());
        store(asm, rescale);
        asm.line(".option pop");
        return asm.lines();
    }

    /** Place of the limits on the stack. */
    private static int limits(RescaleCorrection correction) {
        return CORRECTION + (correction.parameter().isPresent() ? 4 : 0);
    }

    /** Saves registers and arguments, and what depends on these alone. */
    void enter(AsmText asm, ScalarRescale rescale) {
        asm.line("addi sp, sp, -%d", FRAME);
        for (int i = 0; i < BlockedRiscVRegisters.SAVED.size(); i++) {
            asm.line("sw %s, %d(sp)", BlockedRiscVRegisters.SAVED.get(i), SAVED + 4 * i);
        }
        asm.line("sw a0, %d(sp)", INPUT);
        asm.line("sw a2, %d(sp)", CONSTANTS);
        asm.line("sw a3, %d(sp)", OUT);
        asm.line("sw a5, %d(sp)", REST);
        asm.line("sw a6, %d(sp)", STRIDE);
        asm.line("sw a7, %d(sp)", OUT_STRIDE);
        asm.line("add t0, a0, a4");
        asm.line("sw t0, %d(sp)", END);
        asm.line("addi t0, a4, -1");
        asm.line("andi t0, t0, %d", unroll - 1);
        asm.line("li t1, %d", INSTRUCTION * (pixels + channels + (packed ? channels / 2 : 0) + 2 * pixels * channels));
        asm.line("mul t1, t1, t0");
        asm.line("lla t2, 3f");
        asm.line("sub t2, t2, t1");
        asm.line("sw t2, %d(sp)", ENTRY);
        asm.line("addi t0, t0, %d", 1 - unroll);
        asm.line("sw t0, %d(sp)", SKIP);
        asm.line("li t1, %d", weightBytes());
        asm.line("mul t0, t0, t1");
        asm.line("sw t0, %d(sp)", SKIP_WEIGHTS);
        asm.line("lw t2, %d(sp)", SHIFT);
        int limits = limits(rescale.correction());
        asm.line(rescale.isLimited() ? "lw t0, %d(sp)" : "li t0, -128", limits);
        asm.line("sll t0, t0, t2");
        asm.line("sw t0, %d(sp)", LOWEST);
        asm.line(rescale.isLimited() ? "lw t0, %d(sp)" : "li t0, 127", limits + 4);
        asm.line("sll t0, t0, t2");
        asm.line("sw t0, %d(sp)", HIGHEST);
        if (!registers().weights().equals("a1")) {
            asm.line("mv %s, a1", registers().weights());
        }
    }

    /** Loads where the pixels' inputs begin. */
    void firstInputs(AsmText asm) {
        asm.line("lw %s, %d(sp)", registers().input(0), INPUT);
        asm.line("lw %s, %d(sp)", registers().product(), STRIDE);
        for (int p = 1; p < pixels; p++) {
            String input = registers().input(p);
            asm.line(
                    "add %s, %s, %s",
                    input, registers().input(p - 1), registers().product());
        }
    }

    void end(AsmText asm) {
        asm.line("lw %s, %d(sp)", registers().end(), END);
    }

    /** The first step, and the jump into the loop. */
    private void start(AsmText asm) {
        firstInputs(asm);
        step(asm, 0, true);
        asm.line("lw %s, %d(sp)", registers().value(), SKIP);
        asm.line("lw %s, %d(sp)", registers().product(), SKIP_WEIGHTS);
        for (int p = 0; p < pixels; p++) {
            String input = registers().input(p);
            asm.line("add %s, %s, %s", input, input, registers().value());
        }
        String weights = registers().weights();
        asm.line("add %s, %s, %s", weights, weights, registers().product());
        asm.line("lw %s, %d(sp)", registers().product(), ENTRY);
        end(asm);
        asm.line("jr %s", registers().product());
    }

    private void step(AsmText asm, int tap, boolean isFirst) {
        for (int c = 0; c < weightBytes(); c++) {
            int at = weightBytes() * tap + c;
            if (packed) {
                String first = registers().weight(2 * c);
                String second = registers().weight(2 * c + 1);
                asm.line("lb %s, %d(%s)", second, at, registers().weights());
                asm.line("slli %s, %s, 28", first, second);
                asm.line("srai %s, %s, 28", first, first);
            } else {
                asm.line("lb %s, %d(%s)", registers().weight(c), at, registers().weights());
            }
        }
        if (interleaved && !isFirst) {
            RiscVProducts.interleaved(asm, registers(), registers().end(), tap);
        } else {
            RiscVProducts.plain(asm, registers(), tap, isFirst);
        }
    }

    /** Bytes of a step's weights. */
    private int weightBytes() {
        return packed ? channels / 2 : channels;
    }

    /** Second sums; the register holds {@code first + 16 * second} so far. */
    private void takeApart(AsmText asm) {
        for (int c = 1; c < channels; c += 2) {
            for (int p = 0; p < pixels; p++) {
                String sum = registers().sum(c, p);
                asm.line("sub %s, %s, %s", sum, sum, registers().sum(c - 1, p));
                asm.line("srai %s, %s, 4", sum, sum);
            }
        }
    }

    /** Rescales the sums of a block. */
    void rescale(AsmText asm, RescaleCorrection correction) {
        String constants = registers().free().get(0);
        String multiplier = registers().free().get(1);
        String offset = registers().free().get(2);
        String parameter = registers().free().get(3);
        String scratch = registers().free().get(4);
        asm.line("lw %s, %d(sp)", offset, SCALE);
        asm.line("lw %s, %d(sp)", constants, CONSTANTS);
        for (int c = 0; c < channels; c++) {
            registers().sums(c).forEach(sum -> asm.line("sll %s, %s, %s", sum, sum, offset));
        }
        if (correction.parameter().isPresent()) {
            asm.line("lw %s, %d(sp)", parameter, CORRECTION);
        }
        int words = correction.constants();
        for (int c = 0; c < channels; c++) {
            asm.line("lw %s, %d(%s)", multiplier, 4 * words * c, constants);
            asm.line("lw %s, %d(%s)", offset, 4 * words * c + 4, constants);
            RiscVRescale.highWords(asm, registers().sums(c), multiplier, offset);
            for (int i = 0; i < correction.count(); i++) {
                asm.line("lw %s, %d(%s)", offset, 4 * (words * c + 2 + i), constants);
                correction.applyGivenOnRiscV(asm, registers().sums(c), offset, parameter, scratch, 4);
            }
        }
        asm.line("addi %s, %s, %d", constants, constants, 4 * words * channels);
        asm.line("sw %s, %d(sp)", constants, CONSTANTS);
    }

    /** Limits, shifts and stores the existing channels, and continues while there are more. */
    void store(AsmText asm, ScalarRescale rescale) {
        List<String> out = registers().free().subList(0, pixels);
        String shift = registers().free().get(pixels);
        String lowest = registers().free().get(pixels + 1);
        String highest = registers().free().get(pixels + 2);
        String low = registers().free().get(pixels + 3);
        String rest = registers().free().get(pixels + 4);
        asm.line("lw %s, %d(sp)", out.get(0), OUT);
        asm.line("lw %s, %d(sp)", shift, OUT_STRIDE);
        for (int p = 1; p < pixels; p++) {
            asm.line("add %s, %s, %s", out.get(p), out.get(p - 1), shift);
        }
        asm.line("lw %s, %d(sp)", shift, SHIFT);
        asm.line("lw %s, %d(sp)", lowest, LOWEST);
        asm.line("lw %s, %d(sp)", highest, HIGHEST);
        asm.line(rescale.isLimited() ? "lw %s, %d(sp)" : "li %s, -128", low, limits(rescale.correction()));
        asm.line("lw %s, %d(sp)", rest, REST);
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                int label = LOW_LABEL + c * pixels + p;
                asm.line("blt %s, %s, %df", registers().sum(c, p), lowest, label);
                asm.line("ble %s, %s, 5f", registers().sum(c, p), highest);
                asm.line("mv %s, %s", registers().sum(c, p), highest);
                asm.line("5:");
                asm.line("sra %s, %s, %s", registers().sum(c, p), registers().sum(c, p), shift);
                asm.line("sb %s, %d(%s)", registers().sum(c, p), c, out.get(p));
                asm.line("%d:", 2 * LOW_LABEL + c * pixels + p);
            }
            asm.line("addi %s, %s, -1", rest, rest);
            asm.line("beqz %s, 6f", rest);
        }
        asm.line("addi %s, %s, %d", out.get(0), out.get(0), channels);
        asm.line("sw %s, %d(sp)", out.get(0), OUT);
        asm.line("sw %s, %d(sp)", rest, REST);
        asm.line("j 1b");
        storeLow(asm, low, out);
        asm.line("6:");
        leave(asm);
    }

    private static void leave(AsmText asm) {
        for (int i = 0; i < BlockedRiscVRegisters.SAVED.size(); i++) {
            asm.line("lw %s, %d(sp)", BlockedRiscVRegisters.SAVED.get(i), SAVED + 4 * i);
        }
        asm.line("addi sp, sp, %d", FRAME);
        asm.line("ret");
    }

    /** Stores the lower limit for each sum that is below it, and goes back. */
    private void storeLow(AsmText asm, String low, List<String> out) {
        for (int c = 0; c < channels; c++) {
            for (int p = 0; p < pixels; p++) {
                asm.line("%d:", LOW_LABEL + c * pixels + p);
                asm.line("sb %s, %d(%s)", low, c, out.get(p));
                asm.line("j %db", 2 * LOW_LABEL + c * pixels + p);
            }
        }
    }
}
