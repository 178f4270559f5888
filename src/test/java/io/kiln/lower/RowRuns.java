// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.codegen.c.LoopRun.Region;
import io.kiln.codegen.c.LoopRun.Step;
import io.kiln.lower.ExpectedOutput.Part;
import io.kiln.schedule.Dispatch;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Runs of an operator for the rows {@code [begin, end)} of its output, of which only those that it declares are there. */
record RowRuns(LoweringCase operator, LoweredOperator lowered, int begin, int end) {
    /** What rings hold where no row is. */
    private static final byte NO_ROW = -77;

    /**
     * A range that depends on a number.
     *
     * @param lowered the operator by rows
     */
    static RowRuns drawn(LoweringCase operator, LoweredOperator lowered, int number) {
        int rows = rows(operator);
        int begin = number % rows;
        return new RowRuns(operator, lowered, begin, begin + 1 + number / 7 % (rows - begin));
    }

    /** A block of rows, or those that are left. */
    static RowRuns block(LoweringCase operator, LoweredOperator lowered, int number, int block) {
        int rows = rows(operator);
        int begin = number % rows / block * block;
        return new RowRuns(operator, lowered, begin, Math.min(begin + block, rows));
    }

    private static int rows(LoweringCase operator) {
        return Rows.count(operator.op().type().shape());
    }

    /** In buffers that have all rows, but of the inputs only the declared ones and of the output only those of the range may be touched. */
    LoweringRun inPlace() {
        List<Region> regions = new ArrayList<>();
        List<Bytes> contents = operator.contents(lowered);
        for (int i = 0; i < contents.size(); i++) {
            RowDependency declared = lowered.dependencies().get(i);
            regions.add(Region.rows(
                    contents.get(i).size(),
                    Rows.count(operator.shape(i)),
                    declared.firstRow(begin, end),
                    declared.endRow(begin, end)));
        }
        int rows = rows(operator);
        Region written = Region.rows(operator.expected().size(), rows, begin, end);
        regions.add(written);
        Bytes part = part(operator.expected(), written.begin(), written.end());
        return operator.run(lowered, regions, new Step(contents, List.of(begin, end)), List.of(new Part(0, part)));
    }

    private static Bytes part(Bytes all, int from, int to) {
        return Bytes.wrap(Arrays.copyOfRange(all.toArray(), from, to));
    }

    /**
     * Rows in each input's buffer; 0 for all.
     *
     * @param spare rows more than needed
     */
    private List<Integer> inputRings(int spare, int block) {
        return IntStream.range(0, lowered.dependencies().size())
                .mapToObj(i -> {
                    RowDependency declared = lowered.dependencies().get(i);
                    int needed = declared.endRow(begin, end) - declared.firstRow(begin, end);
                    return ring(Math.max(1, needed + spare), block, Rows.count(operator.shape(i)));
                })
                .toList();
    }

    /** Rows of a ring that holds some rows and that blocks divide; 0 if that is all rows. */
    private static int ring(int needed, int block, int all) {
        int ring = (needed + block - 1) / block * block;
        return ring < all ? ring : 0;
    }

    /**
     * Inputs hold just the declared rows, and the output just those of the range, each in a ring of its own size.
     *
     * @param number that decides whether rings have a row more than needed
     * @param block rows that ranges and rings keep to; 1 for any
     */
    InRings inRings(Dispatch dispatch, int number, int block) {
        List<Integer> inputRings = inputRings(number % 2, block);
        int rows = rows(operator);
        int outputRing = ring(end - begin + number / 3 % 2, block, rows);
        LoweredOperator inRings =
                dispatch.lower(operator.op(), Rows.named(inputRings, outputRing).inBlocksOf(block));
        TirVerifier.verify(inRings.function());
        List<Bytes> contents = new ArrayList<>();
        for (int i = 0; i < inputRings.size(); i++) {
            contents.add(held(i, inputRings.get(i), begin, end));
        }
        List<Region> regions = new ArrayList<>();
        contents.forEach(content -> regions.add(Region.all(content.size())));
        int row = operator.expected().size() / rows;
        int lines = outputRing == 0 ? rows : outputRing;
        regions.add(Region.all(row * lines));
        List<Part> parts = IntStream.range(begin, end)
                .mapToObj(r -> new Part(r % lines * row, part(operator.expected(), r * row, (r + 1) * row)))
                .toList();
        LoweringRun run = operator.run(inRings, regions, new Step(contents, List.of(begin, end)), parts);
        return new InRings(run, outputRing > 0 || inputRings.stream().anyMatch(ring -> ring > 0));
    }

    /**
     * A run in rings.
     *
     * @param hasRing whether any of the buffers is smaller than its tensor
     */
    record InRings(LoweringRun run, boolean hasRing) {}

    /** The rows of an input that a range of output rows needs, in a ring. */
    private Bytes held(int input, int ring, int from, int to) {
        Bytes all = operator.contents(lowered).get(input);
        if (ring == 0) {
            return all;
        }
        int row = all.size() / Rows.count(operator.shape(input));
        byte[] held = new byte[row * ring];
        Arrays.fill(held, NO_ROW);
        RowDependency declared = lowered.dependencies().get(input);
        for (int r = declared.firstRow(from, to); r < declared.endRow(from, to); r++) {
            System.arraycopy(all.toArray(), r * row, held, r % ring * row, row);
        }
        return Bytes.wrap(held);
    }

    /** One row of the input at a time, out of a ring that holds just this row; the operator is lowered to accumulate. */
    static LoweringRun accumulating(LoweringCase operator, LoweredOperator lowered, int rows) {
        RowRuns runs = new RowRuns(operator, lowered, 0, rows);
        List<Step> steps = IntStream.range(0, rows)
                .mapToObj(row -> new Step(List.of(runs.held(0, 1, row, row + 1)), List.of(row, row + 1)))
                .toList();
        Bytes expected = operator.expected();
        List<Region> regions = List.of(Region.all(steps.get(0).inputs().get(0).size()), Region.all(expected.size()));
        return operator.run(lowered, regions, true, steps, List.of(new Part(0, expected)));
    }
}
