// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Inputs of first layers, whose runs are no whole fours: the rows under a line of windows are copied into scratch with their padding,
 * so that every window lies inside and at constant distances, and two windows are widened by straight code.
 *
 * <pre>
 * scratch: both windows widened, then kernelH rows of bytes
 * order of a window: whole fours of each row (a rest of three counts as a whole one), then the rests of all rows together
 * </pre>
 */
final class DspPaddedRows {
    private static final KernelText TEXT = KernelText.of("dsp/widen_windows");

    /** Largest offset of a load. */
    private static final int MOST_BYTES = 4095;

    /** Largest number of taps of straight code. */
    private static final int MOST_TAPS = 160;

    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer scratch;

    DspPaddedRows(ConvComputation conv, Buffer input, Buffer scratch) {
        this.conv = conv;
        this.input = input;
        this.scratch = scratch;
    }

    /**
     * Whether runs of a window, or what of them lies inside, are no whole fours; if the window is small enough for straight code, and the
     * rows are short enough for constant offsets.
     */
    static boolean areFor(ConvComputation conv) {
        Window w = conv.window();
        boolean isDilated = DspWindow.isDilated(conv);
        int unit = w.isPadded() || isDilated ? conv.input().dim(3) : run(conv);
        return conv.groups() == 1
                && (w.isPadded() || w.kernelH() > 1 || isDilated)
                && unit % 4 != 0
                && conv.taps() <= MOST_TAPS
                && w.kernelH() * pitch(conv) <= MOST_BYTES;
    }

    private static int run(ConvComputation conv) {
        return conv.window().kernelW() * conv.input().dim(3);
    }

    /** Columns that windows touch, padding included. */
    private static int columns(ConvComputation conv) {
        return (conv.output().dim(2) - 1) * conv.window().strideW()
                + conv.window().spanW();
    }

    /** Bytes from row to row; a load of four at the end stays inside. */
    private static int pitch(ConvComputation conv) {
        return (columns(conv) * conv.input().dim(3) + 6) / 4 * 4;
    }

    /** For each input of the widened window its tap, or -1 where there is none. */
    static int[] order(ConvComputation conv) {
        return places(conv).stream()
                .mapToInt(p -> p.column() < run(conv) ? p.row() * run(conv) + p.column() : -1)
                .toArray();
    }

    static long scratchBytes(ConvComputation conv) {
        return 4L * places(conv).size() + (long) conv.window().kernelH() * pitch(conv);
    }

    /** A byte of a window, counted along its row. */
    private record Place(int row, int column) {
        /** Bytes from the window's first one. */
        int offset(ConvComputation conv) {
            int channels = conv.input().dim(3);
            int dilation = DspWindow.isDilated(conv) ? conv.window().dilationW() : 1;
            int inRow = column / channels * dilation * channels + column % channels;
            return row * pitch(conv) + (dilation > 1 && column >= run(conv) ? 0 : inRow);
        }
    }

    private static List<Place> places(ConvComputation conv) {
        List<Place> places = new ArrayList<>();
        List<Place> rests = new ArrayList<>();
        int run = run(conv);
        int whole = run % 4 == 3 ? run + 1 : run / 4 * 4;
        for (int row = 0; row < conv.window().kernelH(); row++) {
            for (int column = 0; column < Math.max(whole, run); column++) {
                (column < whole ? places : rests).add(new Place(row, column));
            }
        }
        places.addAll(rests);
        while (places.size() % 4 != 0) {
            places.add(new Place(0, run));
        }
        return places;
    }

    private Buffer rows(BlockBuilder block, String name, Expr offset) {
        return block.mutableView(name, scratch, add(offset, 4L * places(conv).size()));
    }

    /** Byte of scratch at which a line's first window begins. */
    Expr firstInput() {
        return imm(4L * places(conv).size());
    }

    /** How windows are widened. */
    static DspWidening widening(ConvComputation conv) {
        return DspWidening.of(offsets(conv), DspWidening.pitch(conv), suffix(conv));
    }

    private static int[] offsets(ConvComputation conv) {
        return places(conv).stream().mapToInt(p -> p.offset(conv)).toArray();
    }

    /** Everything that offsets depend on. */
    private static String suffix(ConvComputation conv) {
        String dilated = DspWindow.isDilated(conv)
                ? "_dilated" + conv.window().dilationW() + "_" + conv.input().dim(3)
                : "";
        return conv.window().kernelH() + "x" + run(conv) + dilated + "_" + pitch(conv);
    }

    /** Fills the padding, which stays as it is; before all lines. */
    void begin(BlockBuilder block) {
        if (conv.window().isPadded()) {
            Buffer all = rows(block, "padding", imm(0));
            int bytes = conv.window().kernelH() * pitch(conv);
            block.call(FILL_ROW, List.of(all), List.of(imm(bytes), imm(conv.inputZeroPoint())));
        }
    }

    /** Copies the rows under a line of the output. */
    void line(BlockBuilder block, Rows rows, Expr n, Expr y) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        Expr bytes = imm((long) Math.min(conv.input().dim(2), columns(conv) - w.padLeft()) * channels);
        block.loop("ky", w.kernelH(), (one, k) -> {
            Buffer to = rows(one, "to", add(mul(k, pitch(conv)), (long) w.padLeft() * channels));
            Expr row = one.let("row", add(sub(mul(y, w.strideH()), imm(w.padTop())), mul(k, w.dilationH())));
            if (w.padTop() + w.padBottom() == 0) {
                copy(one, to, rows, n, row, bytes);
            } else {
                one.ifThenElse(
                        and(lt(imm(-1), row), lt(row, imm(conv.input().dim(1)))),
                        b -> copy(b, to, rows, n, row, bytes),
                        b -> b.call(FILL_ROW, List.of(to), List.of(bytes, imm(conv.inputZeroPoint()))));
            }
        });
    }

    private void copy(BlockBuilder block, Buffer to, Rows rows, Expr n, Expr row, Expr bytes) {
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, row));
        Buffer from = block.view(
                "from",
                input,
                mul(line, (long) conv.input().dim(2) * conv.input().dim(3)));
        block.call(COPY_ROW, List.of(to, from), List.of(bytes));
    }

    /** Widens the windows of the pixels at two columns. */
    void gather(BlockBuilder block, Expr first, Expr second) {
        long step = (long) conv.window().strideW() * conv.input().dim(3);
        Buffer a = rows(block, "a", mul(first, step));
        Buffer b = rows(block, "b", mul(second, step));
        block.call(kernel(), List.of(scratch, a, b), List.of());
    }

    private Kernel kernel() {
        String name = "kiln_widen_" + suffix(conv);
        return new Kernel(
                name,
                List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8)),
                List.of(),
                List.of(),
                definition(name),
                List.of());
    }

    private String definition(String name) {
        AsmText asm = new AsmText();
        int[] offsets = offsets(conv);
        for (int i = 0; i < offsets.length; i += 4) {
            four(asm, "%1", "%3", "%5", Arrays.copyOfRange(offsets, i, i + 4));
            four(asm, "%2", "%4", "%6", Arrays.copyOfRange(offsets, i, i + 4));
            asm.line("sxtb16 %5, %3");
            asm.line("sxtb16 %6, %4");
            asm.line("sxtb16 %3, %3, ror #8");
            asm.line("sxtb16 %4, %4, ror #8");
            asm.line("str %5, [%0, #" + (4 * i) + "]");
            asm.line("str %6, [%0, #" + (4 * i + 4) + "]");
            asm.line("str %3, [%0, #" + (4 * i + 8) + "]");
            asm.line("str %4, [%0, #" + (4 * i + 12) + "]");
        }
        return TEXT.with("ROWS", conv.window().kernelH())
                .with("RUN", run(conv))
                .with("PITCH", pitch(conv))
                .with("NAME", name)
                .with("ASSEMBLY", asm.lines())
                .with("COUNT", offsets.length)
                .with("PLACES", Arrays.toString(offsets).replaceAll("[\\[\\]]", ""))
                .text();
    }

    /** Loads four bytes of a window, neighbours in one go. */
    private static void four(AsmText asm, String from, String to, String spare, int[] offsets) {
        boolean areNeighbours = IntStream.range(1, 4).allMatch(i -> offsets[i] == offsets[0] + i);
        asm.line("ldr%s %s, [%s, #%d]", areNeighbours ? "" : "b", to, from, offsets[0]);
        if (!areNeighbours) {
            for (int i = 1; i < 4; i++) {
                asm.line("ldrb %s, [%s, #%d]", spare, from, offsets[i]);
                asm.line("orr %s, %s, %s, lsl #%d", to, to, spare, 8 * i);
            }
        }
    }

    /** {@code (to, from, count)}. */
    private static final Kernel COPY_ROW = Kernel.inFile(
            "dsp/kiln_copy_row", List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)), List.of(INT32));

    /** {@code (to, count, value)}. */
    private static final Kernel FILL_ROW =
            Kernel.inFile("dsp/kiln_fill_row", List.of(Kernel.Pointer.out(INT8)), List.of(INT32, INT32));
}
