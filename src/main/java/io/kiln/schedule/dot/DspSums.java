// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Bytes;
import io.kiln.lower.SumKernels;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Dot products of an int8 vector with blocks of eight rows, doubled. The weights of two rows share a halfword.
 *
 * <pre>
 * r0       values               r1      a block's initial values, then its weights
 * r2 r3    256 * A + B, B       r4 r5   256 * C + D, D      r6 r7   ...      r8 r9   ...
 * r10 r11  values 0 2, 1 3      r12 lr  weights
 * stack    values, sums, end of the sums, end of whole fours[, last values], then r7 and r11
 * </pre>
 *
 * <p>Four values and eight rows are 31 instructions for 32 products if halfwords are {@code 256 * first + second},
 * multiplied as they are; otherwise 43, because both bytes are widened; 27 if weights have halfwords of their own, in twice the memory.
 *
 * @param form of the weights
 */
record DspSums(Form form) implements SumKernels.Dots {
    /** How weights lie in memory. */
    enum Form {
        /** A halfword is {@code 256 * first + second}, for which sums and weights must leave room. */
        PAIRED("kiln_sums_"),
        /** The bytes of a halfword are the weights of two rows. */
        BYTES("kiln_sums_bytes_"),
        /** A halfword is a weight; computed weights only, which {@link DspPanelSums} packs. */
        WIDE("kiln_sums_wide_");

        private final String prefix;

        Form(String prefix) {
            this.prefix = prefix;
        }
    }

    private static final int ROWS = 8;

    private static final KernelText TEXT = KernelText.of("dsp/sums");
    private static final KernelText WIDE_TEXT = KernelText.of("dsp/sums_wide");
    /** Steps of four values that a loop unrolls; up to twice as many need no loop. */
    private static final int UNROLL = 4;

    /**
     * How a row's values are taken.
     *
     * @param first steps of four before the loop
     * @param loops whether there is a loop
     * @param hasTail whether one to three values remain
     */
    private record Steps(int first, boolean loops, boolean hasTail) {
        static Steps of(int count) {
            int steps = count / 4;
            boolean loops = steps > 2 * UNROLL;
            return new Steps(loops ? steps % UNROLL : steps, loops, count % 4 != 0);
        }
    }

    @Override
    public int rows() {
        return ROWS;
    }

    @Override
    public Bytes pack(int rows, int count, SumKernels.Weights weights, IntUnaryOperator begin) {
        ByteBuffer data = ByteBuffer.allocate(rows * bytes(count)).order(ByteOrder.LITTLE_ENDIAN);
        for (int block = 0; block < rows; block += ROWS) {
            for (int row = block; row < block + ROWS; row += 2) {
                int first = begin.applyAsInt(row);
                int second = begin.applyAsInt(row + 1);
                data.putInt(isPaired() ? 256 * first + second : first).putInt(second);
            }
            for (int four = 0; four < count; four += 4) {
                for (int row = block; row < block + ROWS; row += 2) {
                    for (int place : new int[] {four, four + 2, four + 1, four + 3}) {
                        long first = place < count ? weights.get(row, place) : 0;
                        long second = place < count ? weights.get(row + 1, place) : 0;
                        data.putShort((short) (isPaired() ? 256 * first + second : 256 * first + (second & 0xff)));
                    }
                }
            }
        }
        return Bytes.wrap(data.array());
    }

    /** Bytes of a row: its initial value and its weights. */
    int bytes(int count) {
        return Integer.BYTES + (count + 3) / 4 * (form == Form.WIDE ? 8 : 4);
    }

    private boolean isPaired() {
        return form == Form.PAIRED;
    }

    @Override
    public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
        code.call(
                kernel(Steps.of(block.count())),
                List.of(
                        code.view("x", values, from),
                        code.view("rows", block.weights(), Exprs.mul(block.first(), bytes(block.count()))),
                        sums),
                List.of(Exprs.imm(block.count()), Exprs.imm(block.rows() / ROWS)));
    }

    private Kernel kernel(Steps steps) {
        String name = form.prefix + steps.first + (steps.loops ? "_" + UNROLL : "") + (steps.hasTail ? "_tail" : "");
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT8), Pointer.out(INT32)),
                List.of(INT32, INT32),
                List.of(),
                text(name, steps),
                List.of());
    }

    private String text(String name, Steps steps) {
        if (form == Form.WIDE) {
            return WIDE_TEXT
                    .with("NAME", name)
                    .with("ASSEMBLY", assembly(steps))
                    .text();
        }
        return TEXT.with("NAME", name)
                .with("HALFWORDS", isPaired() ? "256 * first + second" : "the first in the upper byte")
                .with("FIRST", isPaired() ? "(begin[0] - begin[1]) / 256" : "begin[0]")
                .with("UPPER", isPaired() ? "(both - low) / 256" : "(both >> 8)")
                .with("ASSEMBLY", assembly(steps))
                .text();
    }

    private String assembly(Steps steps) {
        List<String> values =
                new ArrayList<>(List.of("x", "w", "sums", "sums + " + ROWS + " * blocks", "x + count / 4 * 4"));
        List<String> types =
                new ArrayList<>(List.of("const int8_t*", "const int8_t*", "int32_t*", "int32_t*", "const int8_t*"));
        if (steps.hasTail) {
            values.add("tail");
            types.add("uint32_t");
        }
        AsmText asm = new AsmText();
        asm.line("push {r7, r11}");
        asm.line("push {%s}", AsmText.kept(values.size()));
        asm.line("1:");
        asm.line("ldmia r1!, {r2, r3, r4, r5, r6, r7, r8, r9}");
        asm.repeat(steps.first, () -> step(asm, "[r0], #4"));
        if (steps.loops) {
            asm.line("2:");
            asm.repeat(UNROLL, () -> step(asm, "[r0], #4"));
            asm.line("ldr r10, [sp, #12]");
            asm.line("cmp r0, r10");
            asm.line("bne 2b");
        }
        if (steps.hasTail) {
            step(asm, "[sp, #16]");
        }
        finish(asm, values.size() - 1);
        String tail = """
              uint32_t tail = 0;
              for (int32_t i = count / 4 * 4; i < count; ++i) {
                tail |= (uint32_t)(uint8_t)x[i] << (i % 4 * 8);
              }
            """;
        return (steps.hasTail ? tail : "")
                + asm.statement(values, types, List.of("r5", "r6", "r8", "r9", "r10", "r12", "lr"));
    }

    private void step(AsmText asm, String values) {
        asm.line("ldr r11, %s", values);
        asm.line("sxtb16 r10, r11");
        asm.line("sxtb16 r11, r11, ror #8");
        if (form == Form.WIDE) {
            for (int row = 2; row < 2 + ROWS; row++) {
                asm.line("ldrd r12, lr, [r1], #8");
                asm.line("smlad r%d, r10, r12, r%d", row, row);
                asm.line("smlad r%d, r11, lr, r%d", row, row);
            }
            return;
        }
        for (int row = 2; row < 2 + ROWS; row += 2) {
            asm.line(isPaired() ? "ldrd r12, lr, [r1], #8" : "ldrd r12, lr, [r1]");
            if (!isPaired()) {
                asm.line("sxtb16 r12, r12, ror #8");
                asm.line("sxtb16 lr, lr, ror #8");
            }
            asm.line("smlad r%d, r10, r12, r%d", row, row);
            asm.line("smlad r%d, r11, lr, r%d", row, row);
            if (!isPaired()) {
                asm.line("ldrd r12, lr, [r1], #8");
            }
            asm.line("sxtb16 r12, r12");
            asm.line("sxtb16 lr, lr");
            asm.line("smlad r%d, r10, r12, r%d", row + 1, row + 1);
            asm.line("smlad r%d, r11, lr, r%d", row + 1, row + 1);
        }
    }

    /** Separates the rows of each pair, and doubles both. */
    private void finish(AsmText asm, int kept) {
        for (int row = 2; row < 2 + ROWS; row += 2) {
            if (isPaired()) {
                asm.line("sub r%d, r%d, r%d", row, row, row + 1);
                asm.line("asr r%d, r%d, #7", row, row);
            } else {
                asm.line("lsl r%d, r%d, #1", row, row);
            }
            asm.line("lsl r%d, r%d, #1", row + 1, row + 1);
        }
        asm.line("ldrd r10, r11, [sp, #4]");
        asm.line("stmia r10!, {r2, r3, r4, r5, r6, r7, r8, r9}");
        asm.line("str r10, [sp, #4]");
        asm.line("ldr r0, [sp]");
        asm.line("cmp r10, r11");
        asm.line("bne 1b");
        asm.line("add sp, #%d", 4 * kept);
        asm.line("pop {r7, r11}");
    }
}
