// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Random;
import java.util.stream.IntStream;

/**
 * Improves an order of first fit: a buffer that reaches the top swaps places with any earlier one, because where buffers may share bytes
 * at some distances, any placed buffer can be in the way. The seed is fixed, so equal problems give equal plans.
 */
final class HillClimb {
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
            if (bytes <= current || random.nextInt(100) < chanceOfWorse(bytes - current, current, attempt, attempts)) {
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
