// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.memory.Distances;
import io.kiln.memory.MemoryPlanner;
import io.kiln.memory.MemoryProblem;
import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Use;
import io.kiln.stream.RowGraph.Value;
import io.kiln.stream.Segmentation.Segment;
import io.kiln.stream.Tape.Call;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The workspace content while some nodes run: their values and scratch, and values kept for later.
 *
 * <p>Time 0 is before the first call, call i runs at time i + 1, and one time follows the last call. Everything that a
 * call reads and writes, and its scratch, is alive while it runs: a call may do its work in any order.
 */
final class Liveness {
    /** Word alignment, so that kernels can load four int8 at once. */
    private static final int LEAST_ALIGNMENT = 4;

    private final RowGraph graph;
    private final int first;
    private final int end;
    private final int after;
    private final int[][] born;
    private final int[][] dead;
    private final int[] rowsBorn;
    private final List<Tenant> tenants = new ArrayList<>();

    /**
     * A value or an operator's scratch that needs memory, in the order of the planner's buffers.
     *
     * @param value whether it is a value, otherwise scratch
     * @param index of the value, or of the node whose scratch it is
     */
    private record Tenant(boolean value, int index, Occupancy occupancy) {}

    private Liveness(RowGraph graph, Tape tape, int first, int end) {
        this.graph = graph;
        this.first = first;
        this.end = end;
        this.after = tape.calls().size() + 1;
        int n = graph.values().size();
        this.born = new int[n][];
        this.dead = new int[n][];
        this.rowsBorn = new int[n];
        for (int i = 0; i < n; i++) {
            Value value = graph.values().get(i);
            boolean there = value.producer() < first && (value.isNeededFrom(first) || isGiven(value));
            if (there || (value.producer() >= first && value.producer() < end)) {
                born[i] = new int[value.rows()];
                dead[i] = new int[value.rows()];
                rowsBorn[i] = there ? value.rows() : 0;
                Arrays.fill(dead[i], value.isNeededFrom(end) ? after : 0);
            }
        }
    }

    /** Whether it exists before the program begins, even if nothing reads it. */
    private boolean isGiven(Value value) {
        return first == 0 && value.place() == Place.INPUT;
    }

    /**
     * Simulates calls of a range of nodes.
     *
     * @param scratch bytes of scratch of each node, by node
     * @param withInputsAndOutputs whether they lie in the workspace
     */
    static Liveness of(RowGraph graph, Tape tape, int first, int end, long[] scratch, boolean withInputsAndOutputs) {
        Liveness liveness = new Liveness(graph, tape, first, end);
        Occupancy[] scratches = new Occupancy[graph.nodes().size()];
        for (int i = 0; i < tape.calls().size(); i++) {
            Call call = tape.calls().get(i);
            liveness.run(call, i + 1);
            if (scratch[call.node()] > 0) {
                liveness.useScratch(scratches, call, i + 1, scratch[call.node()]);
            }
        }
        for (int i = 0; i < graph.values().size(); i++) {
            Value value = graph.values().get(i);
            boolean here = value.place() == Place.WORKSPACE || (withInputsAndOutputs && value.place() != Place.STATE);
            if (liveness.born[i] != null && here && value.type().bytes() > 0) {
                liveness.addValue(i);
            }
        }
        for (int i = 0; i < scratches.length; i++) {
            if (scratches[i] != null) {
                liveness.tenants.add(new Tenant(false, i, scratches[i]));
            }
        }
        return liveness;
    }

    /** Simulates a whole program. */
    static Liveness of(RowGraph graph, List<Segment> segments, long[] scratch, boolean withInputsAndOutputs) {
        Tape tape = Tape.of(graph, segments).orElseThrow();
        return of(graph, tape, 0, graph.nodes().size(), scratch, withInputsAndOutputs);
    }

    private void run(Call call, int time) {
        Node node = graph.nodes().get(call.node());
        for (Use use : node.uses()) {
            int last = use.rows().endRow(call.begin(), call.end());
            for (int row = use.rows().firstRow(call.begin(), call.end()); row < last; row++) {
                dead[use.value()][row] = Math.max(dead[use.value()][row], time);
            }
        }
        boolean complete = call.end() == node.steps();
        int value = node.output();
        int rows = complete ? graph.values().get(value).rows() : node.accumulates() ? 0 : call.end();
        while (rowsBorn[value] < rows) {
            int row = rowsBorn[value]++;
            born[value][row] = time;
            dead[value][row] = Math.max(dead[value][row], time);
        }
    }

    private void useScratch(Occupancy[] scratches, Call call, int time, long bytes) {
        if (scratches[call.node()] == null) {
            scratches[call.node()] = Occupancy.ofPeriods(bytes);
        }
        boolean keeps = graph.nodes().get(call.node()).accumulates() && call.begin() > 0;
        if (keeps) {
            scratches[call.node()].extend(time);
        } else {
            scratches[call.node()].alive(time, time);
        }
    }

    private void addValue(int index) {
        Value value = graph.values().get(index);
        int rows = rowsBorn[index];
        int[] ascending = Arrays.copyOf(dead[index], rows);
        for (int row = 1; row < rows; row++) {
            ascending[row] = Math.max(ascending[row], ascending[row - 1]);
        }
        boolean wholly = value.place() != Place.WORKSPACE || value.producer() < first || value.isNeededFrom(end);
        Occupancy occupancy = Occupancy.ofRows(
                value.rowBytes(),
                Arrays.copyOf(born[index], rows),
                ascending,
                value.rows(),
                wholly ? 0 : graph.block(index));
        tenants.add(new Tenant(true, index, occupancy));
    }

    private WorkspaceBuffer buffer(Tenant tenant) {
        int index = tenant.index();
        long bytes = tenant.occupancy().bytes();
        if (!tenant.value()) {
            int own = graph.nodes().get(index).cost().alignment();
            return new WorkspaceBuffer(
                    WorkspaceLayout.scratchName(index), bytes, Math.max(2 * LEAST_ALIGNMENT, own), index, index);
        }
        Value value = graph.values().get(index);
        int alignment = Math.max(Math.max(LEAST_ALIGNMENT, value.type().dtype().bytes()), value.alignment());
        boolean isOutput = value.place() == Place.OUTPUT;
        int last = isOutput ? Math.max(graph.nodes().size(), value.lastUser()) : value.lastUser();
        return new WorkspaceBuffer(WorkspaceLayout.valueName(value.id()), bytes, alignment, value.producer(), last);
    }

    /** Largest number of bytes alive at once: a lower bound of every placement. */
    long peak() {
        long[] differences = new long[after + 2];
        tenants.forEach(tenant -> tenant.occupancy().addTo(differences));
        long alive = 0;
        long peak = 0;
        for (long difference : differences) {
            alive += difference;
            peak = Math.max(peak, alive);
        }
        return peak;
    }

    /** Bytes that first fit needs; those of all tenants if all are there at one time and lie side by side without padding. */
    long firstFit() {
        long peak = peak();
        List<WorkspaceBuffer> buffers = tenants.stream().map(this::buffer).toList();
        long alignment =
                buffers.stream().mapToLong(WorkspaceBuffer::alignment).max().orElse(1);
        boolean isTight = buffers.stream().allMatch(buffer -> buffer.bytes() % alignment == 0)
                && buffers.stream().mapToLong(WorkspaceBuffer::bytes).sum() == peak;
        return isTight ? peak : MemoryPlanner.firstFit(problem());
    }

    /** The problem for the memory planner. */
    MemoryProblem problem() {
        return MemoryProblem.ofDistances(
                tenants.stream().map(this::buffer).toList(),
                peak(),
                this::together,
                (a, b) -> tenants.get(a).occupancy().distances(tenants.get(b).occupancy()));
    }

    /** Pairs of tenants that are both there at some time: few of all pairs in a long program. */
    private void together(MemoryProblem.IntPairConsumer pairs) {
        List<Occupancy> occupancies = tenants.stream().map(Tenant::occupancy).toList();
        List<Integer> byBegin = IntStream.range(0, occupancies.size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> occupancies.get(i).begin()))
                .toList();
        List<Integer> here = new ArrayList<>();
        for (int next : byBegin) {
            int begin = occupancies.get(next).begin();
            here.removeIf(i -> occupancies.get(i).end() < begin);
            here.forEach(i -> pairs.accept(i, next));
            here.add(next);
        }
    }

    /** Rows in the buffer of each value, by index; 0 if all. */
    List<Integer> rings() {
        Integer[] rings = new Integer[graph.values().size()];
        Arrays.fill(rings, 0);
        for (Tenant tenant : tenants) {
            int slots = tenant.occupancy().slots();
            if (tenant.value() && slots < graph.values().get(tenant.index()).rows()) {
                rings[tenant.index()] = slots;
            }
        }
        return List.of(rings);
    }

    /**
     * Lifetimes of the rows of a buffer. The buffer holds all rows, or, as a ring, as many as are ever alive at once: row r
     * lies at slot r modulo the slots.
     *
     * <pre>
     * time:      0 1 2 3 4 5 6 7         row 0 is written by call 2 and read last by call 4, and so on
     * row 0:         w . r
     * row 1:           w . . r           spans: [2,2] rows 0 to 1, [3,4] rows 0 to 2, [5,6] rows 1 to 3
     * row 2:               w r
     * </pre>
     */
    static final class Occupancy {
        private final long rowBytes;
        private final int slots;
        private int spans;
        private int[] from = new int[4];
        private int[] to = new int[4];
        private int[] firstRow = new int[4];
        private int[] endRow = new int[4];

        private Occupancy(long rowBytes, int slots) {
            this.rowBytes = rowBytes;
            this.slots = slots;
        }

        /**
         * The occupancy of rows that are written in order.
         *
         * @param born time at which each row is written, ascending; without rows that are never written
         * @param dead time of each row's last read, ascending
         * @param rows rows of the value
         * @param block divides the number of slots of a ring; 0 if it must not become a ring
         */
        static Occupancy ofRows(long rowBytes, int[] born, int[] dead, int rows, int block) {
            int slots = block == 0 ? rows : Math.min(rows, (mostAlive(born, dead) + block - 1) / block * block);
            Occupancy occupancy = new Occupancy(rowBytes, slots);
            int low = 0;
            int high = 0;
            int time = born.length == 0 ? 0 : born[0];
            while (low < born.length) {
                while (high < born.length && born[high] <= time) {
                    high++;
                }
                while (low < born.length && dead[low] < time) {
                    low++;
                }
                if (low == born.length) {
                    break;
                }
                int change = low < high ? dead[low] + 1 : Integer.MAX_VALUE;
                int until = Math.min(change, high < born.length ? born[high] : Integer.MAX_VALUE);
                if (high > low) {
                    occupancy.add(time, until - 1, low, high);
                }
                time = until;
            }
            return occupancy;
        }

        /** The occupancy of a buffer without rows, alive in the periods added later. */
        static Occupancy ofPeriods(long bytes) {
            return new Occupancy(bytes, 1);
        }

        /** Adds a period, after the earlier ones. */
        void alive(int begin, int last) {
            if (spans > 0 && to[spans - 1] == begin - 1) {
                to[spans - 1] = last;
            } else {
                add(begin, last, 0, 1);
            }
        }

        /** Extends the last period. */
        void extend(int last) {
            to[spans - 1] = last;
        }

        private static int mostAlive(int[] born, int[] dead) {
            int most = 1;
            int low = 0;
            for (int high = 0; high < born.length; high++) {
                while (dead[low] < born[high]) {
                    low++;
                }
                most = Math.max(most, high + 1 - low);
            }
            return most;
        }

        private void add(int begin, int last, int first, int end) {
            if (spans == from.length) {
                from = Arrays.copyOf(from, 2 * spans);
                to = Arrays.copyOf(to, 2 * spans);
                firstRow = Arrays.copyOf(firstRow, 2 * spans);
                endRow = Arrays.copyOf(endRow, 2 * spans);
            }
            from[spans] = begin;
            to[spans] = last;
            firstRow[spans] = first;
            endRow[spans] = end;
            spans++;
        }

        /** Number of rows in the buffer. */
        int slots() {
            return slots;
        }

        long bytes() {
            return rowBytes * slots;
        }

        /** Adds the bytes alive at each time to differences between neighbouring times. */
        void addTo(long[] differences) {
            for (int i = 0; i < spans; i++) {
                long bytes = (endRow[i] - firstRow[i]) * rowBytes;
                differences[from[i]] += bytes;
                differences[to[i] + 1] -= bytes;
            }
        }

        /** The first time at which it holds anything. */
        int begin() {
            return spans == 0 ? Integer.MAX_VALUE : from[0];
        }

        /** The last time at which it holds anything. */
        int end() {
            return spans == 0 ? Integer.MIN_VALUE : to[spans - 1];
        }

        /** Differences of offsets, this minus the other's, at which rows alive at one time would share bytes. */
        Distances distances(Occupancy other) {
            Distances.Builder builder = new Distances.Builder();
            int i = 0;
            int k = 0;
            while (i < spans && k < other.spans && !builder.areApart(bytes(), other.bytes())) {
                if (from[i] <= other.to[k] && other.from[k] <= to[i]) {
                    together(builder, i, other, k);
                }
                if (to[i] < other.to[k]) {
                    i++;
                } else {
                    k++;
                }
            }
            return builder.build();
        }

        /** The live bytes are one piece, or two if rows wrap around the end of the ring. */
        private void together(Distances.Builder builder, int span, Occupancy other, int otherSpan) {
            int first = firstSlot(span);
            int end = first + endRow[span] - firstRow[span];
            other.together(builder, first * rowBytes, Math.min(end, slots) * rowBytes, otherSpan);
            if (end > slots) {
                other.together(builder, 0, (end - slots) * rowBytes, otherSpan);
            }
        }

        /** Live bytes of another buffer, and this one's in a span. */
        private void together(Distances.Builder builder, long begin, long last, int span) {
            int first = firstSlot(span);
            int end = first + endRow[span] - firstRow[span];
            builder.together(begin, last, first * rowBytes, Math.min(end, slots) * rowBytes);
            if (end > slots) {
                builder.together(begin, last, 0, (end - slots) * rowBytes);
            }
        }

        private int firstSlot(int span) {
            return endRow[span] - firstRow[span] == slots ? 0 : firstRow[span] % slots;
        }
    }
}
