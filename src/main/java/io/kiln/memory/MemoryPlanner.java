// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
}
