// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.Optional;

/**
 * The inputs of a pixel's window, {@code [ky][kx][channel]}: in the input itself if the window is one pixel, otherwise copied to scratch.
 *
 * @param conv the layer
 * @param input its input
 * @param scratch the copy
 */
record SoftWindow(ConvComputation conv, Buffer input, Optional<Buffer> scratch) {
    private static final Kernel COPY = Kernel.inFile(
            "soft/kiln_soft_copy",
            List.of(Pointer.in(DType.FLOAT32), Pointer.out(DType.FLOAT32)),
            List.of(DType.INT32));

    /** Reserves scratch unless the window is one pixel. */
    static SoftWindow of(ConvTask task) {
        Window w = task.conv().window();
        return of(task, w.kernelH() * w.kernelW() == 1 && !w.isPadded());
    }

    /**
     * Reserves scratch.
     *
     * @param isInPlace whether there is to be none
     */
    static SoftWindow of(ConvTask task, boolean isInPlace) {
        ConvComputation conv = task.conv();
        Window w = conv.window();
        long elements = (long) w.kernelH() * w.kernelW() * conv.input().dim(3);
        return new SoftWindow(
                conv,
                task.buffers().argument(0),
                isInPlace ? Optional.empty() : Optional.of(task.buffers().scratch(DType.FLOAT32, elements)));
    }

    /**
     * Where a pixel's window lies.
     *
     * @param n image
     * @param ky rows inside the input
     * @param kx columns inside
     */
    record Place(Expr n, TapRange ky, TapRange kx) {
        /** Whether all of it is inside. */
        Expr isWhole() {
            return Exprs.equal(mul(ky.count(), kx.count()), imm((long) ky.taps() * kx.taps()));
        }
    }

    /** Emits where the window of a pixel of the output lies. */
    Place place(BlockBuilder block, Expr n, Expr y, Expr x) {
        Window w = conv.window();
        TapRange ky = TapRange.of(block, "y", y, TapRange.Axis.rows(w, conv.input()));
        TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(w, conv.input()));
        return new Place(n, ky, kx);
    }

    /** Emits the copy for a pixel of the output, if there is one, and returns the window. */
    Buffer emit(BlockBuilder block, Rows rows, Expr n, Expr y, Expr x) {
        Place place = place(block, n, y, x);
        return scratch.isEmpty() ? inPlace(block, rows, place) : copied(block, rows, place);
    }

    /** The window where it lies in the input. */
    Buffer inPlace(BlockBuilder block, Rows rows, Place place) {
        Expr first = pixel(rows, place.n, place.ky.origin(), place.kx.origin());
        return block.view("window", input, mul(first, channels()));
    }

    /** Emits the copy of the window, which is 0 outside the input. */
    Buffer copied(BlockBuilder block, Rows rows, Place place) {
        Window w = conv.window();
        Buffer to = scratch.orElseThrow();
        if (w.isPadded()) {
            Expr inside = mul(place.ky.count(), place.kx.count());
            block.ifThen(
                    lt(inside, imm((long) w.kernelH() * w.kernelW())),
                    cut -> cut.loop("z", to.elements(), (each, z) -> each.store(to, z, imm(0f))));
        }
        block.loop(
                "ky",
                place.ky.begin(),
                place.ky.end(),
                1,
                (row, k) -> row(row, rows, place.n, new Row(place.ky, place.kx, k), to));
        return to;
    }

    private int channels() {
        return conv.input().dim(3);
    }

    private Expr pixel(Rows rows, Expr n, Expr y, Expr x) {
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
        return add(mul(line, conv.input().dim(2)), x);
    }

    /** A row of the window. */
    private record Row(TapRange ky, TapRange kx, Expr k) {}

    private void row(BlockBuilder block, Rows rows, Expr n, Row row, Buffer to) {
        Window w = conv.window();
        Expr y = add(row.ky.origin(), mul(row.k, w.dilationH()));
        Expr first = mul(row.k, w.kernelW());
        if (w.dilationW() == 1) {
            Expr from = pixel(rows, n, y, add(row.kx.origin(), row.kx.begin()));
            copy(block, from, add(first, row.kx.begin()), row.kx.count(), to);
            return;
        }
        block.loop("kx", row.kx.begin(), row.kx.end(), 1, (tap, k) -> {
            Expr from = pixel(rows, n, y, add(row.kx.origin(), mul(k, w.dilationW())));
            copy(tap, from, add(first, k), imm(1), to);
        });
    }

    private void copy(BlockBuilder block, Expr from, Expr at, Expr pixels, Buffer to) {
        block.call(
                COPY,
                List.of(
                        block.view("from", input, mul(from, channels())),
                        block.mutableView("to", to, mul(at, channels()))),
                List.of(mul(pixels, channels())));
    }
}
