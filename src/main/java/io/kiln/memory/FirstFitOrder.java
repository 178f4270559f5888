// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.ArrayList;
import java.util.List;

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
                    problem.buffers().get(b).bytes(), problem.buffers().get(a).bytes());
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
