// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.mve.MveSteps;
import io.kiln.schedule.mve.MveText;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.IntImm;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Dot products of one or two runs of int16 with the int8 weights of four channels on MVE, eight taps at a time.
 *
 * <pre>
 *   r0  r2  r4  r6    sums of the first pixel        q4, q5   8 inputs of each pixel
 *   r8  r10 r12 lr    sums of the second             q0-q3    8 weights of each channel, widened by the load
 *   r1, r3 inputs; r5 weights; r9 sums in memory; r11 count
 * </pre>
 *
 * @param isPipelined whether steps of two pixels are, see {@link MveSteps}
 * @param isWhole whether a call computes all runs of a window
 * @param unroll steps in a loop: all of them if there are no more than this
 */
record MveWideKernel(boolean isPipelined, boolean isWhole, int unroll) implements DotKernel {
    /** What the rules choose for speed. */
    static final MveWideKernel FAST = new MveWideKernel(false, false, 12);

    /** The same in little code. */
    static final MveWideKernel SMALL = new MveWideKernel(false, false, 2);

    private static final String PIPELINED = "pipelined";
    private static final String WHOLE = "whole_windows";
    private static final KernelText TEXT = KernelText.of("mve/dot16");
    private static final KernelText TEXT_OF_RUNS = KernelText.of("mve/dot16_runs");

    private static final KernelText TEXT_OF_WINDOW = KernelText.of("mve/window16");

    private static final int CHANNELS = 4;

    /** Most bytes that an instruction adds to a pointer. */
    private static final int MOST_ADDED = 4095;

    private static final int STEP = 8;

    private static final MveSteps.Instructions SET =
            MveSteps.Instructions.adding("vldrh.16", "vldrb.s16", STEP, "vmladava.s16");

    /** Whether the weights fit 8 bits without their zero point. */
    static boolean suits(ConvComputation conv) {
        return conv.kernelZeroPoint() == 0;
    }

    @Override
    public String title() {
        return "mve_conv16";
    }

    @Override
    public String reason() {
        return "8 products to an instruction (MVE); what is summed in 32 bits is proven to fit";
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
        return STEP;
    }

    @Override
    public DType sum() {
        return INT32;
    }

    @Override
    public DType table() {
        return INT8;
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.put((byte) weight);
    }

    @Override
    public int weightBytes() {
        return 1;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        call(block, inputs, weights, sums, new Runs(1, Math.toIntExact(((IntImm) taps).value()), 0, 0));
    }

    @Override
    public boolean takesWindows() {
        return isWhole;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Runs runs) {
        block.call(kernel(inputs.size(), runs), DotKernel.arguments(inputs, weights, sums), List.of());
    }

    @Override
    public List<Knob> knobs() {
        return List.of(Knob.flag(PIPELINED, false, true), Knob.flag(WHOLE, false, true));
    }

    @Override
    public DotKernel with(Configuration configuration) {
        return new MveWideKernel(configuration.isOn(PIPELINED), configuration.isOn(WHOLE), unroll);
    }

    private boolean isPipelined(int pixels) {
        return isPipelined && MveSteps.canPipeline(pixels, CHANNELS);
    }

    private Kernel kernel(int pixels, Runs runs) {
        String name = "kiln_mve_dot16_" + runs.taps() + "_" + pixels + "x" + CHANNELS
                + (runs.count() > 1 ? "_runs" + runs.count() + "_apart" + runs.distance() : "")
                + (isPipelined(pixels) ? "_pipelined" : "")
                + (unroll == SMALL.unroll ? "_small" : "");
        return new Kernel(
                name, parameters(INT16, pixels), List.of(), List.of(), definition(name, pixels, runs), List.of());
    }

    private String definition(String name, int pixels, Runs runs) {
        String second = pixels == 2 ? "const int16_t* x1, " : "";
        return (runs.count() > 1 ? TEXT_OF_RUNS.with("RUNS", runs.count()).with("DISTANCE", runs.distance()) : TEXT)
                .with("TAPS", runs.taps())
                .with("NAME", name)
                .with("PARAMETERS", "const int16_t* x0, " + second + "const int8_t* w, int32_t* sums")
                .with("LAST_INPUT", pixels == 2 ? "x1" : "x0")
                .with("INSTRUCTIONS", MveText.lines(instructions(pixels, runs)))
                .with("SECOND_SUMS", pixels == 2 ? secondSums(runs) : "")
                .text();
    }

    private static String secondSums(Runs runs) {
        return runs.count() > 1
                ? "        sums[4 + c] += x1[run * " + runs.distance() + " + k] * weight;\n"
                : "      sums[4 + c] += x1[k] * weight;\n";
    }

    private String instructions(int pixels, Runs runs) {
        StringBuilder out = new StringBuilder("ldrd r0, r2, [r9]\nldrd r4, r6, [r9, #8]\n");
        out.append(pixels == 2 ? "ldrd r8, r10, [r9, #16]\nldrd r12, lr, [r9, #24]\n" : "");
        products(out, pixels, runs);
        out.append("strd r0, r2, [r9]\nstrd r4, r6, [r9, #8]\n");
        out.append(pixels == 2 ? "strd r8, r10, [r9, #16]\nstrd r12, lr, [r9, #24]\n" : "");
        return out.toString();
    }

    /** Adds the products of all runs to the sums. */
    private void products(StringBuilder out, int pixels, Runs runs) {
        MveSteps steps = new MveSteps(SET, pixels, CHANNELS, unroll, isPipelined(pixels));
        int past = (runs.taps() + STEP - 1) / STEP * STEP;
        for (int run = 0; run < runs.count(); run++) {
            steps.emit(out, runs.taps() / STEP, false);
            if (runs.taps() % STEP > 0) {
                out.append("mov r11, #").append(runs.taps() % STEP).append("\nvctp.16 r11\n");
                steps.predicated(out, true);
            }
            if (run + 1 < runs.count() && runs.distance() != past) {
                move(out, 1, Short.BYTES * (runs.distance() - past));
                if (pixels == 2) {
                    move(out, 3, Short.BYTES * (runs.distance() - past));
                }
            }
        }
    }

    private static void move(StringBuilder out, int register, int bytes) {
        add(out, register, register, bytes);
    }

    private static void add(StringBuilder out, int to, int from, int bytes) {
        out.append(String.format(
                Locale.ROOT, "%s r%d, r%d, #%d\n", bytes < 0 ? "subw" : "addw", to, from, Math.abs(bytes)));
    }

    @Override
    public Optional<Kernel> ending(int pixels, Runs runs, int outputs) {
        if (Short.BYTES * Math.max(runs.step(), outputs) > MOST_ADDED) {
            return Optional.empty();
        }
        String name = "kiln_mve_window16_" + runs.taps() + "_" + pixels + "x" + CHANNELS + "_runs" + runs.count()
                + "_apart" + runs.distance()
                + (pixels == 2 ? "_step" + runs.step() + "_of" + outputs : "")
                + (isPipelined(pixels) ? "_pipelined" : "");
        String definition = TEXT_OF_WINDOW
                .with("TAPS", runs.taps())
                .with("RUNS", runs.count())
                .with("DISTANCE", runs.distance())
                .with("PIXELS", pixels)
                .with("STEP", runs.step())
                .with("OUTPUTS", outputs)
                .with("NAME", name)
                .with("INSTRUCTIONS", MveText.lines(window(pixels, runs, outputs)))
                .text();
        List<Kernel.Pointer> pointers = List.of(
                Kernel.Pointer.in(INT16),
                Kernel.Pointer.in(INT8),
                Kernel.Pointer.in(INT32),
                Kernel.Pointer.in(INT32),
                Kernel.Pointer.out(INT16));
        return Optional.of(new Kernel(name, pointers, List.of(), List.of(), definition, List.of()));
    }

    /** The instructions of {@link #ending}: r3 has the biases first, r9 the multipliers, and s24 keeps the outputs, which r11 has. */
    private String window(int pixels, Runs runs, int outputs) {
        StringBuilder out = new StringBuilder("ldrd r0, r2, [r3]\nldrd r4, r6, [r3, #8]\n");
        if (pixels == 2) {
            out.append("ldrd r8, r10, [r3]\nldrd r12, lr, [r3, #8]\n");
            add(out, 3, 1, Short.BYTES * runs.step());
        }
        out.append("vmov s24, r11\n");
        products(out, pixels, runs);
        out.append("vmov r3, s24\nvldrw.32 q4, [r9]\n");
        end(out, "r0, r4", "r2, r6");
        if (pixels == 2) {
            move(out, 3, Short.BYTES * outputs);
            end(out, "r8, r12", "r10, lr");
        }
        return out.toString();
    }

    private static void end(StringBuilder out, String even, String odd) {
        out.append(String.format(Locale.ROOT, """
            vmov q0[2], q0[0], %s
            vmov q0[3], q0[1], %s
            vrmulh.s32 q0, q0, q4
            vqmovnb.s32 q0, q0
            vstrh.32 q0, [r3]
            """, even, odd));
    }
}
