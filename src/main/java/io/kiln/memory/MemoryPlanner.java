// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import io.kiln.memory.MemoryProblem.PoolBounds;
import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Finds offsets for buffers: the best of several orders of first fit, then hill climbing over orders. It stops as soon as the lower bound,
 * including alignment padding, is reached. Equal problems give equal plans.
 */
public final class MemoryPlanner {
    private MemoryPlanner() {}

    /** Plans the workspace. */
    public static MemoryPlan plan(MemoryProblem problem) {
        Placement placement = new Placement(problem);
        Candidate best = new Candidate("nothing to place", 0, new int[0], new long[0]);
        long bound = problem.alignedLowerBound();
        for (FirstFitOrder kind : FirstFitOrder.values()) {
            for (int[] order : orders(problem, kind)) {
                long bytes = placement.place(order);
                if (best.offsets.length == 0 || bytes < best.bytes) {
                    best = new Candidate(kind.text(), bytes, order, placement.offsets());
                }
                if (best.bytes == bound) {
                    return best.plan(problem);
                }
            }
        }
        return search(problem, placement, best).plan(problem);
    }

    /** An order of buffers, and the same with those first that may lie in the fewest pools, since others could take their room. */
    private static List<int[]> orders(MemoryProblem problem, FirstFitOrder kind) {
        int[] order = kind.order(problem);
        return problem.pools().areRestricting()
                ? List.of(
                        order,
                        Arrays.stream(order)
                                .boxed()
                                .sorted(Comparator.comparingInt(
                                        i -> -problem.pools().forbidden(i).size()))
                                .mapToInt(Integer::intValue)
                                .toArray())
                : List.of(order);
    }

    /** Bytes that the best order of first fit needs: a quick upper bound of {@link #plan}. */
    public static long firstFit(MemoryProblem problem) {
        Placement placement = new Placement(problem);
        long best = Long.MAX_VALUE;
        for (FirstFitOrder kind : FirstFitOrder.values()) {
            best = Math.min(best, placement.place(kind.order(problem)));
        }
        return best;
    }

    private static Candidate search(MemoryProblem problem, Placement placement, Candidate start) {
        int[] order = new HillClimb(problem, start.order).run();
        long bytes = placement.place(order);
        return bytes < start.bytes ? new Candidate("hill climb", bytes, order, placement.offsets()) : start;
    }

    /** A plan with the offset of each buffer by index. */
    private static final class Candidate {
        private final String algorithm;
        private final long bytes;
        private final int[] order;
        private final long[] offsets;

        Candidate(String algorithm, long bytes, int[] order, long[] offsets) {
            this.algorithm = algorithm;
            this.bytes = bytes;
            this.order = order;
            this.offsets = offsets;
        }

        MemoryPlan plan(MemoryProblem problem) {
            Map<String, Long> byName = new LinkedHashMap<>();
            int alignment = 1;
            for (int i = 0; i < offsets.length; i++) {
                WorkspaceBuffer buffer = problem.buffers().get(i);
                byName.put(buffer.name(), offsets[i]);
                alignment = Math.max(alignment, buffer.alignment());
            }
            return new MemoryPlan(algorithm, bytes, problem.lowerBound(), alignment, problem.buffers(), byName);
        }
    }

    /** The orders in which first fit is tried. Ties are broken by size, then by position in the problem. */
    enum FirstFitOrder {
        SIZE("size"),
        CONFLICTS("conflicts"),
        LIFETIME("lifetime"),
        AREA("area"),
        START("start"),
        END("end"),
        PRESSURE("pressure");

        private final String text;

        FirstFitOrder(String text) {
            this.text = text;
        }

        /** The order's name in the algorithm of a plan. */
        String text() {
            return "first fit by " + text;
        }

        /** The indices of the problem's buffers in this order. */
        int[] order(MemoryProblem problem) {
            double[] keys = keys(problem);
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < keys.length; i++) {
                order.add(i);
            }
            order.sort((a, b) -> {
                int byKey = Double.compare(keys[a], keys[b]);
                int bySize = Long.compare(
                        problem.buffers().get(b).bytes(),
                        problem.buffers().get(a).bytes());
                return byKey != 0 ? byKey : bySize != 0 ? bySize : Integer.compare(a, b);
            });
            int[] indices = new int[keys.length];
            for (int i = 0; i < indices.length; i++) {
                indices[i] = order.get(i);
            }
            return indices;
        }

        /** Sort keys by buffer: those with the least key are placed first. */
        private double[] keys(MemoryProblem problem) {
            double[] keys = new double[problem.size()];
            for (int i = 0; i < keys.length; i++) {
                WorkspaceBuffer buffer = problem.buffers().get(i);
                keys[i] = switch (this) {
                    case SIZE -> -buffer.bytes();
                    case CONFLICTS -> -problem.conflicts(i).length;
                    case LIFETIME -> -buffer.steps();
                    case AREA -> -(double) buffer.bytes() * buffer.steps();
                    case START -> buffer.firstUse();
                    case END -> -buffer.lastUse();
                    case PRESSURE -> 0;
                };
            }
            if (this == PRESSURE) {
                byPressure(problem, keys);
            }
            return keys;
        }

        /** Fills in keys that put the members of the heaviest clique first. */
        private static void byPressure(MemoryProblem problem, double[] keys) {
            for (int[] clique : problem.cliques()) {
                long bytes = 0;
                for (int i : clique) {
                    bytes += problem.buffers().get(i).bytes();
                }
                for (int i : clique) {
                    keys[i] = Math.min(keys[i], (double) -bytes);
                }
            }
        }
    }

    /**
     * Improves an order of first fit: a buffer that reaches the top swaps places with any earlier one, because where buffers may share bytes
     * at some distances, any placed buffer can be in the way. The seed is fixed, so equal problems give equal plans.
     */
    private static final class HillClimb {
        private static final long WORK = 40_000_000;
        private static final int MOST_ATTEMPTS = 4_000;

        /** The largest setback that is ever taken, as a divisor of all bytes. */
        private static final int WORST_LOSS = 8;

        private final MemoryProblem problem;
        private final Placement placement;
        private final Random random = new Random(1);
        private final int[] order;
        private final int[] position;

        HillClimb(MemoryProblem problem, int[] start) {
            this.problem = problem;
            this.placement = new Placement(problem);
            this.order = start.clone();
            this.position = new int[start.length];
            for (int i = 0; i < order.length; i++) {
                position[order[i]] = i;
            }
        }

        /** The best order found; stops at the lower bound or after its share of work. */
        int[] run() {
            long lowerBound = problem.alignedLowerBound();
            long current = placement.place(order);
            long best = current;
            int[] bestOrder = order.clone();
            int attempts = attempts();
            for (int attempt = 1; attempt <= attempts && best > lowerBound; attempt++) {
                int top = topBuffer(current);
                int other = order[random.nextInt(position[top] + 1)];
                if (random.nextInt(3) == 0) {
                    top = pick(problem.conflicts(top), top);
                    other = order[random.nextInt(order.length)];
                }
                int first = Math.min(position[top], position[other]);
                swap(top, other);
                placement.save();
                long bytes = placement.placeFrom(first, order, current + current / WORST_LOSS);
                if (bytes < best) {
                    best = bytes;
                    bestOrder = order.clone();
                }
                if (bytes <= current
                        || random.nextInt(100) < chanceOfWorse(bytes - current, current, attempt, attempts)) {
                    current = bytes;
                } else {
                    swap(top, other);
                    placement.restore();
                }
            }
            return bestOrder;
        }

        /** Small setbacks early on escape local minima. */
        private static long chanceOfWorse(long loss, long bytes, int attempt, int attempts) {
            return loss * WORST_LOSS > bytes ? 0 : 20L * (attempts - attempt) / attempts;
        }

        private int attempts() {
            long edges = IntStream.range(0, problem.size())
                    .mapToLong(i -> problem.conflicts(i).length)
                    .sum();
            return (int) Math.min(MOST_ATTEMPTS, WORK / (problem.size() + 4 * edges + 1));
        }

        private int topBuffer(long bytes) {
            int count = 0;
            for (int i = 0; i < order.length; i++) {
                count += placement.end(i) == bytes ? 1 : 0;
            }
            int left = random.nextInt(count);
            int buffer = 0;
            while (placement.end(buffer) != bytes || left-- > 0) {
                buffer++;
            }
            return buffer;
        }

        private int pick(int[] candidates, int otherwise) {
            return candidates.length == 0 ? otherwise : candidates[random.nextInt(candidates.length)];
        }

        private void swap(int a, int b) {
            int pa = position[a];
            int pb = position[b];
            order[pa] = b;
            order[pb] = a;
            position[a] = pb;
            position[b] = pa;
        }
    }

    /** First fit: places buffers in a given order, each at the lowest offset that the earlier ones allow. Reused between orders. */
    static final class Placement {
        private final MemoryProblem problem;
        private final long[] sizes;
        private final int[] alignments;
        private final long[] offsets;
        private final long[] saved;
        private final boolean[] placed;
        private final long[] bounds;
        private final int[][] forbidden;
        private final int[][] neighbours;
        private final Distances[][] distances;

        Placement(MemoryProblem problem) {
            this.problem = problem;
            int n = problem.size();
            sizes = problem.buffers().stream().mapToLong(WorkspaceBuffer::bytes).toArray();
            alignments = problem.buffers().stream()
                    .mapToInt(WorkspaceBuffer::alignment)
                    .toArray();
            offsets = new long[n];
            saved = new long[n];
            placed = new boolean[n];
            bounds = problem.pools().bounds().bounds().stream()
                    .mapToLong(Long::longValue)
                    .toArray();
            forbidden = IntStream.range(0, n)
                    .mapToObj(i -> problem.pools().forbidden(i).stream()
                            .mapToInt(Integer::intValue)
                            .toArray())
                    .toArray(int[][]::new);
            neighbours = new int[n][];
            distances = new Distances[n][];
            for (int i = 0; i < n; i++) {
                neighbours[i] = problem.conflicts(i);
                distances[i] = problem.distances(i);
            }
        }

        /** Places all buffers; afterwards {@link #offsets} returns their offsets. Returns the bytes needed. */
        long place(int[] order) {
            return placeFrom(0, order, Long.MAX_VALUE);
        }

        /**
         * Places again the buffers from a position of the order on; those before it must be where they were placed last.
         *
         * @param most once more bytes are needed, it ends early, with some buffers where they were before
         */
        long placeFrom(int first, int[] order, long most) {
            Arrays.fill(placed, false);
            long bytes = 0;
            for (int i = 0; i < first; i++) {
                placed[order[i]] = true;
                bytes = Math.max(bytes, end(order[i]));
            }
            for (int i = first; i < order.length && bytes <= most; i++) {
                int buffer = order[i];
                offsets[buffer] = sizes[buffer] == 0 ? 0 : lowestFit(buffer);
                placed[buffer] = true;
                bytes = Math.max(bytes, end(buffer));
            }
            return bytes;
        }

        /** Remembers where all buffers are. */
        void save() {
            System.arraycopy(offsets, 0, saved, 0, offsets.length);
        }

        /** Moves all buffers to where they were at the last {@link #save}. */
        void restore() {
            System.arraycopy(saved, 0, offsets, 0, offsets.length);
        }

        long end(int buffer) {
            return offsets[buffer] + sizes[buffer];
        }

        long[] offsets() {
            return offsets.clone();
        }

        private long lowestFit(int buffer) {
            long lowest = 0;
            long next = raised(buffer, lowest);
            while (next > lowest) {
                lowest = next;
                next = raised(buffer, lowest);
            }
            return lowest;
        }

        /** An offset; or, if something is in its way, a higher one below which there is no room. */
        private long raised(int buffer, long offset) {
            long lowest = offset;
            int[] others = neighbours[buffer];
            Distances[] apart = distances[buffer];
            for (int k = 0; k < others.length; k++) {
                if (placed[others[k]]) {
                    long other = offsets[others[k]];
                    boolean isClear = lowest + sizes[buffer] <= other || lowest >= other + sizes[others[k]];
                    long free = apart.length > 0
                            ? other + apart[k].leastFrom(lowest - other)
                            : isClear ? lowest : other + sizes[others[k]];
                    lowest = atLeast(lowest, free, buffer);
                }
            }
            // A single byte crosses no bound.
            for (int k = 0; k < bounds.length && sizes[buffer] > 1; k++) {
                if (lowest < bounds[k] && lowest + sizes[buffer] > bounds[k]) {
                    lowest = atLeast(lowest, bounds[k], buffer);
                }
            }
            for (int pool : forbidden[buffer]) {
                PoolBounds pools = problem.pools().bounds();
                if (lowest < pools.end(pool) && lowest + sizes[buffer] > pools.start(pool)) {
                    lowest = atLeast(lowest, pools.end(pool), buffer);
                }
            }
            return lowest;
        }

        private long atLeast(long lowest, long free, int buffer) {
            return free > lowest ? align(free, alignments[buffer]) : lowest;
        }

        static long align(long offset, int alignment) {
            return (offset + alignment - 1) & -alignment;
        }
    }
}
