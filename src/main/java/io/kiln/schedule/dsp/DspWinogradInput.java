// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;

/**
 * The kernel that makes the factors of {@link DspWinograd} from one row of six columns: four pixels, the second two of which begin two
 * columns later.
 *
 * <pre>
 * scratch         [d1 + d2, d2 - d1, d0 - d2, d1 - d3][row of the window][two inputs][first or second two pixels], 16 bits each
 * r0 r1 r2 r3     scratch, second column, first column, last column
 * r4-r7           four inputs of the second to fifth column     r8-r11   two of them, widened     r12 lr   factors
 * </pre>
 *
 * <p>Four inputs of six columns take 47 instructions.
 *
 * <p>If the number of inputs is not a multiple of four, the last four overlap the ones before.
 *
 * @param channels inputs of a column, at least four
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 */
record DspWinogradInput(int channels, boolean isPaired) {
    private static final KernelText TEXT = KernelText.of("dsp/winograd_input");

    private static final int ROWS = 3;
    private static final int FACTORS = 4;

    /** Inputs that have factors, in fours. */
    static int filled(int channels) {
        return (channels + 3) / 4 * 4;
    }

    /** The input of a place among the {@link #filled} ones; -1 if a place before has it already. */
    static int inputAt(int place, int channels) {
        int whole = channels / 4 * 4;
        int over = filled(channels) - channels;
        return place < whole ? place : place - whole < over ? -1 : place - over;
    }

    /** Bytes of scratch of one row of the window. */
    int rowBytes() {
        return 4 * filled(channels);
    }

    /** Bytes of one kind of factors. */
    int factorBytes() {
        return ROWS * rowBytes();
    }

    /** Bytes of scratch. */
    int bytes() {
        return FACTORS * factorBytes();
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8)),
                List.of(INT32, INT32, INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String name() {
        return "kiln_winograd_input_" + channels + (isPaired ? "_paired" : "");
    }

    private String definition() {
        return TEXT.with("CHANNELS", channels)
                .with("NAME", name())
                .with("ASSEMBLY", assembly())
                .with("FACTOR_BYTES", factorBytes())
                .with("FILLED", filled(channels))
                .with("INPUT", channels % 4 == 0 ? "i" : "at")
                .with(
                        "INPUTS_IN_WORDS",
                        channels + " inputs" + (channels % 4 == 0 ? "" : ", the last four over those before,"))
                .with(
                        "LAST_FOUR",
                        channels % 4 == 0
                                ? ""
                                : String.format(
                                        Locale.ROOT,
                                        "    const int32_t at = i < %d ? i : i - %d;\n",
                                        channels / 4 * 4,
                                        filled(channels) - channels))
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.line("ldrd r4, r5, [sp, #36]");
        address(asm, "r8", "r3");
        address(asm, "r9", "r4");
        address(asm, "r3", "r5");
        asm.line("mov r1, r8");
        asm.line("mov r2, r9");
        asm.repeat(channels / 4, () -> four(asm));
        if (channels % 4 != 0) {
            for (int pointer = 1; pointer < 4; pointer++) {
                asm.line("sub r%d, #%d", pointer, 4 - channels % 4);
            }
            four(asm);
        }
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Four inputs of all columns. */
    private void four(AsmText asm) {
        for (int column = 1; column < 4; column++) {
            asm.line("ldr r%d, [r1, #%d]", 4 + column, column * channels);
        }
        asm.line("ldr r4, [r1], #4");
        half(asm, 0);
        half(asm, 1);
        asm.line("add r0, #16");
    }

    /** The address of an offset. */
    private static void address(AsmText asm, String to, String offset) {
        asm.line("cmp %s, #0", offset);
        asm.line("ite lt");
        asm.line("movlt %s, r2", to);
        asm.line("addge %s, r1, %s", to, offset);
    }

    /** Two of the four inputs of each column. */
    private void half(AsmText asm, int half) {
        String which = half == 0 ? "" : ", ror #8";
        String next = half == 0 ? "" : ", #4";
        for (int column = 0; column < 4; column++) {
            asm.line("sxtb16 r%d, r%d%s", 8 + column, 4 + column, which);
        }
        factors(asm, "sadd16 r12, r8, r9", "sadd16 lr, r10, r11", 0, half);
        factors(asm, "ssub16 r12, r9, r8", "ssub16 lr, r11, r10", 1, half);
        asm.line("ldr r12, [r2]%s", next);
        asm.line("sxtb16 r12, r12%s", which);
        factors(asm, "ssub16 r12, r12, r9", "ssub16 lr, r9, r11", 2, half);
        asm.line("ldr lr, [r3]%s", next);
        asm.line("sxtb16 lr, lr%s", which);
        factors(asm, "ssub16 r12, r8, r10", "ssub16 lr, r10, lr", 3, half);
    }

    private void factors(AsmText asm, String first, String second, int kind, int half) {
        asm.line("%s", first);
        asm.line("%s", second);
        int place = kind * factorBytes() + 8 * half;
        DspConvAsm.storeTwo(asm, isPaired && place <= DspConvAsm.PAIR_REACH, "r12, lr", "r0, #" + place);
    }
}
