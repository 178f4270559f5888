// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

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

    /** Its name in a plan's algorithm. */
    String text() {
        return "first fit by " + text;
    }

    /** All indices of the problem's buffers. */
    int[] order(MemoryProblem problem) {
        Comparator<Integer> bySize = Comparator.comparingLong(
                (Integer i) -> -problem.buffers().get(i).bytes());
        return IntStream.range(0, problem.size())
                .boxed()
                .sorted(comparator(problem).thenComparing(bySize).thenComparing(Comparator.naturalOrder()))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private Comparator<Integer> comparator(MemoryProblem problem) {
        return switch (this) {
            case SIZE -> Comparator.comparingLong(i -> -buffer(problem, i).bytes());
            case CONFLICTS -> Comparator.comparingInt(i -> -problem.conflicts(i).length);
            case LIFETIME -> Comparator.comparingLong(i -> -buffer(problem, i).steps());
            case AREA ->
                Comparator.comparingDouble(i -> -(double) buffer(problem, i).bytes()
                        * buffer(problem, i).steps());
            case START -> Comparator.comparingInt(i -> buffer(problem, i).firstUse());
            case END -> Comparator.comparingInt(i -> -buffer(problem, i).lastUse());
            case PRESSURE -> byPressure(problem);
        };
    }

    /** Members of the heaviest clique first. */
    private static Comparator<Integer> byPressure(MemoryProblem problem) {
        long[] pressure = new long[problem.size()];
        for (int[] clique : problem.cliques()) {
            long bytes = Arrays.stream(clique)
                    .mapToLong(i -> buffer(problem, i).bytes())
                    .sum();
            for (int i : clique) {
                pressure[i] = Math.max(pressure[i], bytes);
            }
        }
        return Comparator.comparingLong(i -> -pressure[i]);
    }

    private static WorkspaceBuffer buffer(MemoryProblem problem, int index) {
        return problem.buffers().get(index);
    }
}
