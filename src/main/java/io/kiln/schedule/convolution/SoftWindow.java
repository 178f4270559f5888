// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

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
 * @param groups of its channels, of which a window has one
 * @param input its input
 * @param scratch the copy
 */
record SoftWindow(ConvComputation conv, SoftGroups groups, Buffer input, Optional<Buffer> scratch) {
    private static final Kernel COPY = Kernel.inFile(
            "movement/kiln_soft_copy", Pointer.lastWritten(DType.FLOAT32, DType.FLOAT32), List.of(DType.INT32));

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
        SoftGroups groups = SoftGroups.of(conv);
        long elements = (long) w.kernelH() * w.kernelW() * groups.inputs();
        return new SoftWindow(
                conv,
                groups,
                task.buffers().argument(0),
                isInPlace ? Optional.empty() : Optional.of(task.buffers().scratch(DType.FLOAT32, elements)));
    }

    /**
     * Where a pixel's window lies.
     *
     * @param n image
     * @param ky rows inside the input
     * @param kx columns inside
     * @param channel the first one
     */
    record Place(Expr n, TapRange ky, TapRange kx, Expr channel) {
        /** Whether all of it is inside. */
        Expr isWhole() {
            return Exprs.equal(mul(ky.count(), kx.count()), imm((long) ky.taps() * kx.taps()));
        }

        /** The same of another group. */
        Place from(Expr other) {
            return new Place(n, ky, kx, other);
        }
    }

    /** Emits where the window of a pixel of the output lies. */
    Place place(BlockBuilder block, Expr n, Expr y, Expr x) {
        Window w = conv.window();
        TapRange ky = TapRange.of(block, "y", y, TapRange.Axis.rows(w, conv.input()));
        TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(w, conv.input()));
        return new Place(n, ky, kx, imm(0));
    }

    /** Emits the copy of a window, if there is one, and returns the window. */
    Buffer emit(BlockBuilder block, Rows rows, Place place) {
        return scratch.isEmpty() ? inPlace(block, rows, place) : copied(block, rows, place);
    }

    /** The window where it lies in the input. */
    Buffer inPlace(BlockBuilder block, Rows rows, Place place) {
        Expr first = pixel(rows, place.n, place.ky.origin(), place.kx.origin());
        return block.view("window", input, add(mul(first, channels()), place.channel));
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
        place.ky.loop(block, "ky", (row, k) -> row(row, rows, place, k, to));
        return to;
    }

    private int channels() {
        return conv.input().dim(3);
    }

    private Expr pixel(Rows rows, Expr n, Expr y, Expr x) {
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
        return add(mul(line, conv.input().dim(2)), x);
    }

    /** Copies row k of the window: its pixels at once if they are neighbours and all their channels are copied. */
    private void row(BlockBuilder block, Rows rows, Place place, Expr k, Buffer to) {
        Window w = conv.window();
        TapRange kx = place.kx;
        Expr y = add(place.ky.origin(), mul(k, w.dilationH()));
        Expr first = mul(k, w.kernelW());
        if (w.dilationW() == 1 && groups.count() == 1) {
            Expr from = pixel(rows, place.n, y, add(kx.origin(), kx.begin()));
            copy(block, mul(from, channels()), add(first, kx.begin()), kx.count(), to);
            return;
        }
        kx.loop(block, "kx", (tap, x) -> {
            Expr from = pixel(rows, place.n, y, add(kx.origin(), mul(x, w.dilationW())));
            copy(tap, add(mul(from, channels()), place.channel), add(first, x), imm(1), to);
        });
    }

    private void copy(BlockBuilder block, Expr from, Expr at, Expr pixels, Buffer to) {
        block.call(
                COPY,
                List.of(block.view("from", input, from), block.mutableView("to", to, mul(at, groups.inputs()))),
                List.of(mul(pixels, groups.inputs())));
    }
}
