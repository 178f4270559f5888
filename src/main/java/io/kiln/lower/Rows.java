// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/**
 * The range of output rows that a lowered operator computes, all or those given by the caller, and the position of rows
 * in buffers: one after another, or in a ring that holds only the rows still needed.
 *
 * @param begin first row
 * @param end row after the last
 * @param parameters the scalars by which the caller gives the range; empty for whole tensors
 * @param inputRings number of rows in the buffer of each input, in the order of the operator's inputs; 0 or absent if
 *     it holds all
 * @param outputRing number of rows in the output's buffer; 0 if it holds all
 * @param accumulate whether the range is one of input rows, see {@link #accumulating}
 * @param block a range begins at a multiple of it and has at most this many rows, and it divides every ring; 1 if
 * nothing is known
 */
public record Rows(
        Expr begin,
        Expr end,
        List<Expr.Var> parameters,
        List<Integer> inputRings,
        int outputRing,
        boolean accumulate,
        int block) {
    public Rows {
        parameters = List.copyOf(parameters);
        inputRings = List.copyOf(inputRings);
    }

    /** The range of all rows of a tensor. */
    public static Rows whole(Shape shape) {
        return new Rows(Exprs.imm(0), Exprs.imm(count(shape)), List.of(), List.of(), 0, false, 1);
    }

    /** The range of all rows of a tensor, in rings. */
    public static Rows whole(Shape shape, List<Integer> inputRings, int outputRing) {
        return new Rows(Exprs.imm(0), Exprs.imm(count(shape)), List.of(), inputRings, outputRing, false, 1);
    }

    /** Rows {@code [row_begin, row_end)} given by the caller, in buffers that hold all rows. */
    static Rows named() {
        return named(List.of(), 0);
    }

    /** Rows {@code [row_begin, row_end)} given by the caller, in rings. */
    public static Rows named(List<Integer> inputRings, int outputRing) {
        Expr.Var begin = Exprs.var("row_begin");
        Expr.Var end = Exprs.var("row_end");
        return new Rows(begin, end, List.of(begin, end), inputRings, outputRing, false, 1);
    }

    /**
     * Rows {@code [row_begin, row_end)} of the input, for an operator that accumulates: it is called for all of them in
     * order and writes its output after the last.
     */
    public static Rows accumulating(List<Integer> inputRings) {
        Rows named = named(inputRings, 0);
        return new Rows(named.begin, named.end, named.parameters, inputRings, 0, true, 1);
    }

    /** The same rows, for ranges that never cross a multiple of a number of rows, which divides every ring. */
    public Rows inBlocksOf(int rows) {
        return new Rows(begin, end, parameters, inputRings, outputRing, accumulate, rows);
    }

    /** Line of a row in an input's buffer; the row must be inside the tensor. */
    public Expr inputLine(int input, Expr row) {
        return line(row, input < inputRings.size() ? inputRings.get(input) : 0);
    }

    /** Line of a row in the output's buffer. */
    public Expr outputLine(Expr row) {
        return line(row, outputRing);
    }

    private static Expr line(Expr row, int ring) {
        return ring == 0 ? row : Exprs.mod(row, Exprs.imm(ring));
    }

    /** Whether consecutive rows are consecutive in every buffer, so that loops may cross their ends. */
    public boolean areContiguous() {
        return outputRing == 0 && inputRings.stream().allMatch(ring -> ring == 0);
    }

    /** Whether the rows of one range are consecutive in every buffer, starting at a line given by the shifts. */
    public boolean areContiguousInRange() {
        return areContiguous() || block > 1;
    }

    /**
     * Shift of a range's rows in an input's buffer if {@link #areContiguousInRange}: added to a row, it gives its line.
     */
    public Expr inputShift(int input) {
        return areContiguous() ? Exprs.imm(0) : Exprs.sub(inputLine(input, begin), begin);
    }

    /** Shift of a range's rows in the output's buffer, as {@link #inputShift} gives it for an input. */
    public Expr outputShift() {
        return areContiguous() ? Exprs.imm(0) : Exprs.sub(outputLine(begin), begin);
    }

    /** First line of an NHWC output to compute: of the range, or of the whole height if the batch makes it one row. */
    public Expr firstLine(Shape output) {
        return output.dim(0) == 1 ? begin : Exprs.imm(0);
    }

    /** Line after the last one to compute. */
    public Expr endLine(Shape output) {
        return output.dim(0) == 1 ? end : Exprs.imm(output.dim(1));
    }

    /** Emits the loops over the lines of an NHWC output to compute, image by image. */
    public void eachLine(BlockBuilder block, Shape output, LineBody body) {
        eachLine(block, output, 1, body);
    }

    /** The same for every so many lines. */
    public void eachLine(BlockBuilder block, Shape output, int step, LineBody body) {
        block.loop(
                "n",
                output.dim(0),
                (batch, n) ->
                        batch.loop("y", firstLine(output), endLine(output), step, (line, y) -> body.emit(line, n, y)));
    }

    /** Emits the body of the loops over lines, given the image and the line. */
    @FunctionalInterface
    public interface LineBody {
        void emit(BlockBuilder block, Expr n, Expr y);
    }

    /** Rows of a tensor: its height if it is NHWC of batch 1, else 1. */
    public static int count(Shape shape) {
        return shape.rank() == 4 && shape.dim(0) == 1 ? shape.dim(1) : 1;
    }
}
