// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.kernels.convolution.Jtemve_float_windowGenerated;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.Interior;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.IntImm;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Optional;

/**
 * The windows of a float layer that {@link MveFloatWindow} computes: those whose columns inside the input are known at build time. Rows may be
 * clipped, and lie in a ring.
 *
 * @param conv the layer
 * @param kernel with the order of taps
 * @param tables weights and biases
 * @param input the layer's input
 * @param output its output
 */
public record MveFloatWindows(ConvComputation conv, MveFloatKernel kernel, Tables tables, Buffer input, Buffer output) {
    /** Weights and biases of all channels. */
    record Tables(DotWeights weights, Buffer biases) {}

    /**
     * The runs of a row of the output.
     *
     * @param first pixels before the first run's row in the input's buffer
     * @param ky first row of the window inside the input
     * @param count their number as the kernel reads it
     * @param ring rows that the input's buffer holds, if they are a ring; otherwise 0
     */
    record Runs(Expr first, Expr ky, Expr count, int ring) {}

    /** The windows, if a configuration computes them so. */
    static Optional<MveFloatWindows> of(
            ConvComputation conv, DotKernel kernel, Tables tables, Buffer input, Buffer output) {
        return kernel instanceof MveFloatKernel by
                        && by.windows().isPresent()
                        && conv.channels() >= kernel.channels()
                        && !tables.weights.isSplit()
                        && Interior.of(conv).size() > 0
                ? Optional.of(new MveFloatWindows(conv, by, tables, input, output))
                : Optional.empty();
    }

    /** Whether rows in such buffers can be read: in a ring, if they follow each other. */
    boolean canRead(Rows rows) {
        return conv.window().dilationH() == 1 || ring(rows) == 0;
    }

    private static int ring(Rows rows) {
        return rows.inputRings().isEmpty() ? 0 : rows.inputRings().get(0);
    }

    /** Emits what the blocks of a row of the output have in common. */
    Runs runs(BlockBuilder row, Rows rows, Expr n, TapRange ky) {
        Window w = conv.window();
        Expr top = add(ky.origin(), mul(ky.begin(), w.dilationH()));
        Expr line = row.let("first_line", rows.inputLine(0, top));
        Expr first = row.let(
                "first_pixel",
                mul(add(mul(n, conv.input().dim(1)), line), conv.input().dim(2)));
        int ring = ring(rows);
        if (ring == 0 || isOne()) {
            return new Runs(first, ky.begin(), ky.count(), ring);
        }
        Expr before = row.let("before_end", min(ky.count(), sub(imm(ring), line)));
        Expr behind = sub(ky.count(), before);
        return new Runs(first, ky.begin(), row.let("runs", add(before, mul(behind, 1 << 16))), ring);
    }

    private boolean isOne() {
        return conv.window().kernelH() == 1 && !conv.window().isPadded();
    }

    /** The columns of the window at a column of the output. */
    TapRange columns(int x) {
        Window w = conv.window();
        int origin = x * w.strideW() - w.padLeft();
        int begin = Math.min(w.kernelW(), Math.max(0, -origin));
        int end = Math.max(begin, Math.min(w.kernelW(), conv.input().dim(2) - origin));
        return new TapRange(imm(origin), imm(begin), imm(end), w.kernelW());
    }

    /**
     * Emits a block of channels of neighbouring pixels.
     *
     * @param kx columns of the first pixel's window inside the input
     * @param oc first channel
     * @param out position of the first pixel's channel 0 in the output
     * @return whether it can be computed so; otherwise nothing is emitted
     */
    boolean emit(BlockBuilder block, Runs runs, int pixels, TapRange kx, Expr oc, Expr out) {
        if (!(kx.begin() instanceof IntImm begin && kx.end() instanceof IntImm end) || begin.value() >= end.value()) {
            return false;
        }
        int cin = conv.channelsPerGroup();
        MveFloatWindow window = new MveFloatWindow(
                new MveFloatWindow.Block(pixels, kernel.vectors()),
                walk((int) (end.value() - begin.value()) * cin, runs.ring),
                conv.channels(),
                conv.op().clip(),
                kernel.windows().orElseThrow());
        Expr column = add(kx.origin(), begin.value());
        Buffer in = block.view("in", input, mul(add(runs.first, column), cin));
        DotWeights weights = tables.weights;
        Buffer w = block.view(
                "w", weights.table(), add(weights.at(oc, runs.ky), weights.offset((int) begin.value() * cin)));
        Buffer biases = block.view("start", tables.biases, oc);
        Buffer to = block.mutableView("out", output, add(out, oc));
        block.call(window.kernel(), List.of(in, w, biases, to), isOne() ? List.of() : List.of(runs.count));
        return true;
    }

    private MveFloatWindow.Walk walk(int taps, int ring) {
        int cin = conv.channelsPerGroup();
        int row = conv.input().dim(2) * cin;
        Window w = conv.window();
        return new MveFloatWindow.Walk(
                taps,
                w.strideW() * cin,
                w.dilationH() * row,
                w.kernelW() * cin * kernel.channels(),
                ring * row,
                isOne());
    }

    /**
     * The kernel {@code convolution/mve_float_window}: whole windows of float data on MVE in one call: the sums start with the biases, stay in registers for all rows of the window, and are limited
     * and stored. {@code kernel(input, weights, biases, output, runs)}: the number of runs of taps, of which those from the
     * ring's start on are counted in the upper 16 bits; without it for a single run.
     *
     * @param block pixels and channels
     * @param walk where the input's and the weights' values are
     * @param outputs elements from one pixel of the output to the next
     * @param clip limits
     * @param loop how taps are ordered
     */
    public record MveFloatWindow(Block block, Walk walk, int outputs, Optional<Clip> clip, Loop loop) {
        /**
         * What one call computes.
         *
         * @param vectors of four channels; at most 6 times pixels
         */
        public record Block(int pixels, int vectors) {
            int channels() {
                return 4 * vectors;
            }
        }

        /**
         * Elements from one value to another.
         *
         * @param taps of a run
         * @param step from the first tap of a pixel to that of the next
         * @param line from the first tap of a run to that of the next
         * @param weights likewise in the table
         * @param ring of all rows that the input's buffer holds, if they are a ring; otherwise 0
         * @param isOne whether there is never more than one run
         */
        public record Walk(int taps, int step, int line, int weights, int ring, boolean isOne) {}

        /**
         * How taps are ordered.
         *
         * @param unroll taps in a turn of the loop, an even number
         * @param isMany whether eight values of a single pixel are loaded by one instruction
         */
        public record Loop(int unroll, boolean isMany) {}

        /** The micro-kernel. */
        Kernel kernel() {
            return new Kernel(
                    name(),
                    Pointer.lastWritten(FLOAT32, FLOAT32, FLOAT32, FLOAT32),
                    walk.isOne ? List.<DType>of() : List.of(INT32),
                    List.of(),
                    KernelSheet.text((out, html) -> Jtemve_float_windowGenerated.render(out, html, name(), this)),
                    List.of());
        }

        private String name() {
            return "kiln_mve_windowf_" + block.pixels + "x" + block.channels() + "_" + walk.taps
                    + (block.pixels > 1 ? "_step" + walk.step + "_of" + outputs : "")
                    + (walk.isOne ? "" : "_line" + walk.line + "_weights" + walk.weights)
                    + (isRing() ? "_ring" + walk.ring : "")
                    + (loop.unroll > 2 ? "_unroll" + loop.unroll : "")
                    + (loop.isMany && block.pixels == 1 ? "_many" : "")
                    + low().map(value -> "_low" + Integer.toHexString(bits(value)))
                            .orElse("")
                    + high().map(value -> "_high" + Integer.toHexString(bits(value)))
                            .orElse("");
        }

        /** Whether rows may lie behind the end of a ring. */
        public boolean isRing() {
            return !walk.isOne && walk.ring > 0;
        }

        /** The lower limit. */
        public Optional<Float> low() {
            return clip.map(limits -> (float) limits.min()).filter(value -> value > -Float.MAX_VALUE);
        }

        /** The upper limit. */
        public Optional<Float> high() {
            return clip.map(limits -> (float) limits.max()).filter(value -> value < Float.MAX_VALUE);
        }

        private static int bits(float value) {
            return Float.floatToIntBits(value);
        }
    }
}
