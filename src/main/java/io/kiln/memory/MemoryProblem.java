// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;

/**
 * What a planner has to solve: buffers, and which of them must not share bytes.
 *
 * <p>Cliques are sets of buffers that all conflict with each other. Their bytes have to lie beside each other, so the heaviest
 * clique is a lower bound of every plan. Taken from lifetimes, the cliques are what is alive at a step, and the bound is the
 * peak of live bytes.
 */
public final class MemoryProblem {
    private final List<Buffer> buffers;
    private final int[][] conflicts;
    private final int[][] cliques;

    private MemoryProblem(List<Buffer> buffers, int[][] conflicts, int[][] cliques) {
        this.buffers = List.copyOf(buffers);
        this.conflicts = conflicts;
        this.cliques = cliques;
    }

    /** Buffers conflict when they are alive at the same step. */
    public static MemoryProblem ofLifetimes(List<Buffer> buffers) {
        checkNames(buffers);
        Neighbours neighbours = new Neighbours(buffers.size());
        List<int[]> cliques = new ArrayList<>();
        List<Integer> alive = new ArrayList<>();
        boolean grew = false;
        for (int next : byFirstUse(buffers)) {
            int start = buffers.get(next).firstUse();
            // A live set is maximal when a buffer joined it last and one is about to leave.
            if (grew && alive.stream().anyMatch(i -> buffers.get(i).lastUse() < start)) {
                cliques.add(toArray(alive));
                grew = false;
            }
            alive.removeIf(i -> buffers.get(i).lastUse() < start);
            if (buffers.get(next).bytes() > 0) {
                alive.forEach(i -> neighbours.join(i, next));
                alive.add(next);
                grew = true;
            }
        }
        if (grew) {
            cliques.add(toArray(alive));
        }
        return new MemoryProblem(buffers, neighbours.toArrays(), cliques.toArray(int[][]::new));
    }

    /**
     * Buffers conflict when the relation says so; lifetimes only guide the order of placing.
     *
     * @param conflict symmetric; asked for each pair once, so meant for at most some thousand buffers
     */
    public static MemoryProblem ofConflicts(List<Buffer> buffers, BiPredicate<Buffer, Buffer> conflict) {
        checkNames(buffers);
        Neighbours neighbours = new Neighbours(buffers.size());
        for (int i = 0; i < buffers.size(); i++) {
            for (int k = i + 1; k < buffers.size(); k++) {
                Buffer a = buffers.get(i);
                Buffer b = buffers.get(k);
                if (a.bytes() > 0 && b.bytes() > 0 && conflict.test(a, b)) {
                    neighbours.join(i, k);
                }
            }
        }
        int[][] conflicts = neighbours.toArrays();
        return new MemoryProblem(buffers, conflicts, greedyCliques(buffers, conflicts));
    }

    public List<Buffer> buffers() {
        return buffers;
    }

    /** Bytes that every plan needs: the heaviest known set of buffers that all conflict. */
    public long lowerBound() {
        return Arrays.stream(cliques).mapToLong(this::bytes).max().orElse(0);
    }

    /**
     * As the lower bound, with what alignment costs at least: all of a clique but the topmost fill up to the smallest alignment in it.
     */
    long alignedLowerBound() {
        return Arrays.stream(cliques).mapToLong(this::alignedBytes).max().orElse(0);
    }

    /** Indices of the buffers that one must not overlap. The array is shared: do not write to it. */
    int[] conflicts(int buffer) {
        return conflicts[buffer];
    }

    /** Sets of buffers that all conflict. The arrays are shared: do not write to them. */
    int[][] cliques() {
        return cliques;
    }

    int size() {
        return buffers.size();
    }

    private long bytes(int[] clique) {
        return Arrays.stream(clique).mapToLong(i -> buffers.get(i).bytes()).sum();
    }

    private long alignedBytes(int[] clique) {
        int alignment =
                Arrays.stream(clique).map(i -> buffers.get(i).alignment()).min().orElse(1);
        long sum = 0;
        long mostPadding = 0;
        for (int i : clique) {
            long aligned = Placement.align(buffers.get(i).bytes(), alignment);
            sum += aligned;
            mostPadding = Math.max(mostPadding, aligned - buffers.get(i).bytes());
        }
        return sum - mostPadding;
    }

    /** One clique around each buffer, heaviest neighbours first. */
    private static int[][] greedyCliques(List<Buffer> buffers, int[][] conflicts) {
        return IntStream.range(0, buffers.size())
                .filter(i -> buffers.get(i).bytes() > 0)
                .mapToObj(seed -> greedyClique(seed, buffers, conflicts))
                .toArray(int[][]::new);
    }

    private static int[] greedyClique(int seed, List<Buffer> buffers, int[][] conflicts) {
        List<Integer> clique = new ArrayList<>(List.of(seed));
        Arrays.stream(conflicts[seed])
                .boxed()
                .sorted(Comparator.comparingLong((Integer i) -> -buffers.get(i).bytes()))
                .filter(i -> clique.stream().allMatch(k -> Arrays.binarySearch(conflicts[k], i) >= 0))
                .forEachOrdered(clique::add);
        return toArray(clique);
    }

    private static List<Integer> byFirstUse(List<Buffer> buffers) {
        return IntStream.range(0, buffers.size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> buffers.get(i).firstUse()))
                .toList();
    }

    private static void checkNames(List<Buffer> buffers) {
        Set<String> names = new HashSet<>();
        for (Buffer buffer : buffers) {
            if (!names.add(buffer.name())) {
                throw new IllegalArgumentException("two buffers are named `" + buffer.name() + "`");
            }
        }
    }

    private static int[] toArray(List<Integer> list) {
        return list.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Adjacency lists under construction. */
    private static final class Neighbours {
        private final List<List<Integer>> lists = new ArrayList<>();

        Neighbours(int size) {
            for (int i = 0; i < size; i++) {
                lists.add(new ArrayList<>());
            }
        }

        void join(int a, int b) {
            lists.get(a).add(b);
            lists.get(b).add(a);
        }

        int[][] toArrays() {
            return lists.stream()
                    .map(list ->
                            list.stream().mapToInt(Integer::intValue).sorted().toArray())
                    .toArray(int[][]::new);
        }
    }
}
