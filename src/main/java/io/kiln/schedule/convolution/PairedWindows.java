// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.ge;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.le;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.movement.Jtethumb1_pair_inputsGenerated;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.space.ConvTask;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Puts the windows of two pixels into words, {@code first + 65536 * second}, for {@link BlockedAssembly.Thumb1}, row by row where both lie inside the
 * input.
 */
final class PairedWindows {
    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer columns;
    private final Kernel kernel;

    /** A pixel of the output. */
    record Pixel(Expr y, Expr x) {}

    /** The first taps of the windows in the input: rows and columns of both pixels. */
    private record Origins(Expr y0, Expr x0, Expr y1, Expr x1) {}

    /** Copies to a buffer of words, {@code [ky][kx][channel]}. */
    PairedWindows(ConvTask task, Buffer input, Buffer columns) {
        this.conv = task.conv();
        this.input = input;
        this.columns = columns;
        this.kernel = kernel(rowTaps());
    }

    /**
     * Whether the taps of a window's row are neighbours in memory, some window lies inside the input, and code for borders may stand
     * beside this one.
     */
    static boolean suits(ConvTask task) {
        ConvComputation conv = task.conv();
        Window w = conv.window();
        return !task.isForSize()
                && (w.dilationW() == 1 || w.kernelW() == 1)
                && last(TapRange.Axis.rows(w, conv.input())) >= 0
                && last(TapRange.Axis.columns(w, conv.input())) >= 0;
    }

    /** Where the last window inside the input begins. */
    private static int last(TapRange.Axis axis) {
        return axis.size() - 1 - (axis.taps() - 1) * axis.dilation();
    }

    private int rowTaps() {
        return conv.window().kernelW() * conv.input().dim(3);
    }

    /**
     * Emits the copy.
     *
     * @param cut emits what is done if a tap of any of the two lies outside
     */
    void emit(BlockBuilder block, Rows rows, Expr n, Pixel first, Pixel second, Consumer<BlockBuilder> cut) {
        TapRange.Axis vertical = TapRange.Axis.rows(conv.window(), conv.input());
        TapRange.Axis horizontal = TapRange.Axis.columns(conv.window(), conv.input());
        Expr y = block.let("first_y", origin(first.y, vertical));
        Origins at = new Origins(
                y,
                block.let("first_x", origin(first.x, horizontal)),
                second.y.equals(first.y) ? y : block.let("second_y", origin(second.y, vertical)),
                block.let("second_x", origin(second.x, horizontal)));
        List<Expr> inside = new ArrayList<>();
        limit(inside, vertical, at.y0, at.y1);
        limit(inside, horizontal, at.x0, at.x1);
        if (inside.isEmpty()) {
            copy(block, rows, n, at);
        } else {
            Expr isInside = inside.stream().reduce((a, b) -> and(a, b)).orElseThrow();
            block.ifThenElse(isInside, b -> copy(b, rows, n, at), cut);
        }
    }

    private static Expr origin(Expr position, TapRange.Axis axis) {
        return sub(mul(position, axis.stride()), imm(axis.padding()));
    }

    /** The conditions that all taps of both windows lie inside along an axis. */
    private static void limit(List<Expr> inside, TapRange.Axis axis, Expr first, Expr second) {
        if (axis.isPadded()) {
            for (Expr origin : first.equals(second) ? List.of(first) : List.of(first, second)) {
                inside.add(ge(origin, imm(0)));
                inside.add(le(origin, imm(last(axis))));
            }
        }
    }

    private void copy(BlockBuilder block, Rows rows, Expr n, Origins at) {
        Window w = conv.window();
        block.loop("ky", w.kernelH(), (row, ky) -> {
            Expr down = mul(ky, w.dilationH());
            Buffer first = row.view("first_input", input, place(rows, n, add(at.y0, down), at.x0));
            Buffer second = row.view("second_input", input, place(rows, n, add(at.y1, down), at.x1));
            Buffer pairs = row.mutableView("pairs", columns, mul(ky, rowTaps()));
            row.call(kernel, List.of(first, second, pairs), List.of());
        });
    }

    private Expr place(Rows rows, Expr n, Expr y, Expr x) {
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
        return mul(add(mul(line, conv.input().dim(2)), x), conv.input().dim(3));
    }

    /** The kernel for a number of words. Pointers: inputs of the first pixel, of the second, words. */
    static Kernel kernel(int count) {
        String name = "kiln_pair_inputs_" + count;
        return Kernel.of(
                name,
                Pointer.lastWritten(DType.INT8, DType.INT8, DType.INT32),
                0,
                (out, html) -> Jtethumb1_pair_inputsGenerated.render(out, html, name, count));
    }
}
