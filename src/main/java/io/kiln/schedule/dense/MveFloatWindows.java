// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.Interior;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.IntImm;
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
record MveFloatWindows(ConvComputation conv, MveFloatKernel kernel, Tables tables, Buffer input, Buffer output) {
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
}
