// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.mve.MveText;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Dot products of runs of float values with vectors of weights of four channels on MVE: each input times a vector.
 *
 * <pre>
 *   q0-q5   sums: pixel by pixel, in it vector by vector       q6, q7  weights of a tap
 *   r1, r3, r5 inputs; r0 r2, r4 r6, r8 r10 two values of each; r12 weights; r11 count of the pairs of taps; r9 arguments in memory
 * </pre>
 *
 * @param pixels computed together, at most 3
 * @param vectors of four channels; times pixels at most 6
 * @param windows how {@link MveFloatWindow} orders taps, if it computes the windows that it can
 */
record MveFloatKernel(int pixels, int vectors, Optional<MveFloatWindow.Loop> windows) implements DotKernel {
    private static final String WHOLE = "whole_windows";
    private static final String UNROLL = "unroll";
    private static final String MANY = "multiple_loads";

    /** Taps of a turn unless {@link #UNROLL} says more. */
    private static final int USUAL_UNROLL = 2;

    private static final KernelText TEXT = KernelText.of("mve/dotf");

    private static final int[] VALUES = {0, 2, 4, 6, 8, 10};

    /** Without {@link MveFloatWindow}. */
    MveFloatKernel(int pixels, int vectors) {
        this(pixels, vectors, Optional.empty());
    }

    /** The kernel for a layer: of single pixels, more channels. */
    static MveFloatKernel of(ConvComputation conv) {
        boolean isSingle = conv.output().dim(2) == 1;
        int most = (conv.channels() + 3) / 4;
        return isSingle ? new MveFloatKernel(1, Math.min(most, 4)) : new MveFloatKernel(3, Math.min(most, 2));
    }

    @Override
    public String title() {
        return "mve_conv_float";
    }

    @Override
    public String reason() {
        return "an input times the weights of four channels in one instruction (MVE)";
    }

    @Override
    public int channels() {
        return 4 * vectors;
    }

    @Override
    public int step() {
        return 1;
    }

    @Override
    public List<Knob> knobs() {
        return List.of(Knob.flag(WHOLE, false, true), Knob.unusual(UNROLL, 4, 8, 16, 32), Knob.flag(MANY, false, true));
    }

    /** Loops of a call are unrolled if it computes a whole window; eight values are loaded at once if a turn has them. */
    @Override
    public boolean isKernel(Configuration configuration) {
        int unroll = configuration.number(UNROLL, USUAL_UNROLL);
        return (configuration.isOn(WHOLE) || unroll == USUAL_UNROLL) && (!configuration.isOn(MANY) || unroll >= 8);
    }

    @Override
    public DotKernel with(Configuration configuration) {
        MveFloatWindow.Loop loop =
                new MveFloatWindow.Loop(configuration.number(UNROLL, USUAL_UNROLL), configuration.isOn(MANY));
        return new MveFloatKernel(pixels, vectors, configuration.isOn(WHOLE) ? Optional.of(loop) : Optional.empty());
    }

    @Override
    public DType sum() {
        return FLOAT32;
    }

    @Override
    public DType table() {
        return FLOAT32;
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.putFloat((float) weight);
    }

    @Override
    public int weightBytes() {
        return Float.BYTES;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        block.call(kernel(inputs.size()), DotKernel.arguments(inputs, weights, sums), List.of(taps));
    }

    private Kernel kernel(int count) {
        String name = "kiln_mve_dotf_" + count + "x" + channels();
        return new Kernel(
                name, parameters(FLOAT32, count), List.of(INT32), List.of(), definition(name, count), List.of());
    }

    private String definition(String name, int count) {
        return TEXT.with("CHANNELS", channels())
                .with("NAME", name)
                .with("PARAMETERS", each(count, "const float* x%1$d, ") + "const float* w, float* sums, int32_t taps")
                .with("OTHER_INPUTS", List.of("x0, x0", "x1, x1", "x1, x2").get(count - 1))
                .with("INSTRUCTIONS", MveText.lines(instructions(count)))
                .with(
                        "SUMS",
                        each(
                                count,
                                "      sums[%1$d * " + channels() + " + c] += x%1$d[k] * w[k * " + channels()
                                        + " + c];\n"))
                .text();
    }

    private String instructions(int count) {
        StringBuilder out = new StringBuilder("ldrd r12, r11, [r9, #12]\n");
        for (int q = 0; q < count * vectors; q++) {
            out.append(String.format(Locale.ROOT, "vldrw.32 q%d, [r11, #%d]\n", q, 16 * q));
        }
        out.append("ldrd r1, r3, [r9]\nldr r5, [r9, #8]\nldr lr, [r9, #20]\nwls lr, lr, 2f\n1:\n");
        for (int p = 0; p < count; p++) {
            out.append(String.format(
                    Locale.ROOT, "ldrd r%d, r%d, [r%d], #8\n", VALUES[2 * p], VALUES[2 * p + 1], 1 + 2 * p));
        }
        tap(out, count, 0);
        tap(out, count, 1);
        out.append("le lr, 1b\n2:\nldr lr, [r9, #24]\ncmp lr, #0\nbeq 3f\n");
        for (int p = 0; p < count; p++) {
            out.append(String.format(Locale.ROOT, "ldr r%d, [r%d]\n", VALUES[2 * p], 1 + 2 * p));
        }
        tap(out, count, 0);
        out.append("3:\n");
        for (int q = 0; q < count * vectors; q++) {
            out.append(String.format(Locale.ROOT, "vstrw.32 q%d, [r11, #%d]\n", q, 16 * q));
        }
        return out.toString();
    }

    /** One tap of each pixel, the first or second of a pair. */
    private void tap(StringBuilder out, int count, int second) {
        for (int v = 0; v < vectors; v++) {
            int weight = 6 + v % 2;
            out.append(String.format(Locale.ROOT, "vldrw.32 q%d, [r12], #16\n", weight));
            for (int p = 0; p < count; p++) {
                out.append(String.format(
                        Locale.ROOT, "vfma.f32 q%d, q%d, r%d\n", p * vectors + v, weight, VALUES[2 * p + second]));
            }
        }
    }

    private static String each(int count, String text) {
        return IntStream.range(0, count)
                .mapToObj(i -> String.format(Locale.ROOT, text, i))
                .collect(Collectors.joining());
    }
}
