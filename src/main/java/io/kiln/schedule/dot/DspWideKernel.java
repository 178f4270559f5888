// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Dot products of one or two runs of int16 with the weights of three channels, widened to int16, by {@code SMLAD}.
 *
 * <pre>
 * registers: 6 sums, 2 inputs, 1 weight, 3 pointers
 * weights: two taps in a word
 * </pre>
 *
 * @param unroll steps in the loop of {@link DspTapsKernel}; 0 for the kernel in C
 * @param isMultiple see there
 */
record DspWideKernel(int unroll, boolean isMultiple) implements DotKernel {
    /** The kernel in C, whose instructions the compiler puts in order. */
    static final DspWideKernel COMPILED = new DspWideKernel(0, false);

    private static final String UNROLL_KNOB = "unroll";
    private static final String MULTIPLE = "multiple_loads";
    private static final KernelText TEXT = KernelText.of("dsp/dot16");

    private static final int CHANNELS = DspTapsKernel.CHANNELS;
    private static final int UNROLL = 8;

    @Override
    public String title() {
        return "dsp_conv16";
    }

    @Override
    public String reason() {
        return "two products in one instruction; what is summed in 32 bits is proven to fit";
    }

    @Override
    public int pixels() {
        return 2;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public int step() {
        return 2;
    }

    @Override
    public List<Knob> knobs() {
        return List.of(Knob.unusual(UNROLL_KNOB, UNROLL, 16, 32), Knob.flag(MULTIPLE, false, true));
    }

    @Override
    public Configuration usual(Configuration settings) {
        return settings.with(UNROLL_KNOB, UNROLL);
    }

    @Override
    public boolean isKernel(Configuration configuration) {
        return !configuration.isOn(MULTIPLE) || configuration.number(UNROLL_KNOB, 0) > 0;
    }

    @Override
    public DotKernel with(Configuration configuration) {
        return new DspWideKernel(configuration.number(UNROLL_KNOB, 0), configuration.isOn(MULTIPLE));
    }

    @Override
    public DType sum() {
        return INT32;
    }

    @Override
    public DType table() {
        return INT32;
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.putShort((short) weight);
    }

    @Override
    public int weightBytes() {
        return Short.BYTES;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        int count = Math.toIntExact(((Expr.IntImm) taps).value());
        if (unroll > 0) {
            Kernel kernel = new DspTapsKernel(inputs.size(), count, unroll, isMultiple)
                    .kernel(parameters(INT16, inputs.size()));
            block.call(kernel, DotKernel.arguments(inputs, weights, sums), List.of());
            return;
        }
        boolean isOdd = count % 2 == 1;
        List<Expr> pairs = List.of(Exprs.div(taps, Exprs.imm(2)));
        block.call(kernel(inputs.size(), isOdd), DotKernel.arguments(inputs, weights, sums), pairs);
    }

    /**
     * The kernel for this many pixels: pointers to each, to the weights, to the sums, then the number of pairs of taps.
     */
    private Kernel kernel(int pixels, boolean isOdd) {
        String name = "kiln_dot16_" + pixels + "x" + CHANNELS + (isOdd ? "_odd" : "");
        return new Kernel(
                name,
                parameters(INT16, pixels),
                List.of(INT32),
                List.of(),
                definition(name, pixels, isOdd),
                List.of(Intrinsics.SMLAD));
    }

    private static String definition(String name, int pixels, boolean isOdd) {
        int sums = pixels * CHANNELS;
        return TEXT.with("NAME", name)
                .with("CHANNELS", CHANNELS)
                .with("WORDS", "two taps to a word" + (isOdd ? " and one more" : ""))
                .with(
                        "PARAMETERS",
                        each(pixels, "const int16_t* x%1$d, ") + "const int32_t* w, int32_t* sums, int32_t pairs")
                .with("LOAD_SUMS", each(sums, "  int32_t s%1$d = sums[%1$d];\n"))
                .with("UNROLL", UNROLL)
                .with("STEPS", steps(pixels, UNROLL))
                .with("STEP", steps(pixels, 1))
                .with("LAST_TAP", isOdd ? last(pixels) : "")
                .with("STORE_SUMS", each(sums, "  sums[%1$d] = s%1$d;\n"))
                .text();
    }

    /** Unrolled pairs of taps, so that loads have constant offsets. */
    private static String steps(int pixels, int count) {
        StringBuilder steps = new StringBuilder();
        for (int u = 0; u < count; u++) {
            for (int p = 0; p < pixels; p++) {
                steps.append(String.format(
                        Locale.ROOT,
                        "    int32_t v%d_%d;\n    __builtin_memcpy(&v%d_%d, x%d + %d, 4);\n",
                        u,
                        p,
                        u,
                        p,
                        p,
                        2 * u));
            }
            for (int o = 0; o < CHANNELS; o++) {
                steps.append(String.format(Locale.ROOT, "    const int32_t w%d_%d = w[%d];\n", u, o, u * CHANNELS + o));
                for (int p = 0; p < pixels; p++) {
                    int s = p * CHANNELS + o;
                    steps.append(String.format(
                            Locale.ROOT, "    s%d = kiln_smlad(v%d_%d, w%d_%d, s%d);\n", s, u, p, u, o, s));
                }
            }
        }
        steps.append(each(pixels, "    x%1$d += " + 2 * count + ";\n"));
        return steps.append("    w += ").append(CHANNELS * count).append(";\n").toString();
    }

    /** The tap after the last pair. */
    private static String last(int pixels) {
        StringBuilder last = new StringBuilder();
        for (int s = 0; s < pixels * CHANNELS; s++) {
            last.append(String.format(Locale.ROOT, "  s%d += *x%d * (int16_t)w[%d];\n", s, s / CHANNELS, s % CHANNELS));
        }
        return last.toString();
    }

    private static String each(int count, String text) {
        return IntStream.range(0, count)
                .mapToObj(i -> String.format(Locale.ROOT, text, i))
                .collect(Collectors.joining());
    }
}
