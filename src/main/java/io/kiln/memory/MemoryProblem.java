// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The input of a planner: buffers, and the distances that two of them must not have.
 *
 * <p>Cliques are sets of buffers of which no two may share a byte. Their bytes must lie side by side, so the heaviest
 * clique is a lower bound of every plan.
 */
public final class MemoryProblem {
    private final List<WorkspaceBuffer> buffers;
    private final int[][] conflicts;
    private final int[][] cliques;
    private final Distances[][] distances;
    private final long knownBound;
    private final AllowedPools pools;

    private MemoryProblem(
            List<WorkspaceBuffer> buffers,
            int[][] conflicts,
            int[][] cliques,
            Distances[][] distances,
            long knownBound,
            AllowedPools pools) {
        this.buffers = List.copyOf(buffers);
        this.conflicts = conflicts;
        this.cliques = cliques;
        this.distances = distances;
        this.knownBound = knownBound;
        this.pools = pools;
    }

    /** Pairs of buffers that may not have any distance. */
    @FunctionalInterface
    public interface Pairs {
        /** Calls the consumer once for each pair of indices. */
        void forEach(IntPairConsumer consumer);
    }

    /** Takes two indices. */
    @FunctionalInterface
    public interface IntPairConsumer {
        void accept(int a, int b);
    }

    /** The distances that two buffers must not have. */
    @FunctionalInterface
    public interface DistanceRelation {
        /** Forbidden differences {@code offset(a) - offset(b)} of two buffers, given by index. */
        Distances between(int a, int b);
    }

    /**
     * Buffers keep the distances of the relation; lifetimes only guide the placing order.
     *
     * @param knownBound least bytes of any plan, from what is alive at each moment
     * @param pairs all others may have any distance
     * @param relation called once for each pair, with the smaller index first
     */
    public static MemoryProblem ofDistances(
            List<WorkspaceBuffer> buffers, long knownBound, Pairs pairs, DistanceRelation relation) {
        checkNames(buffers);
        int n = buffers.size();
        Neighbours related = new Neighbours(n);
        // Most pairs are apart, which their sizes tell; a wide model has very many of them.
        List<Map<Integer, Distances>> others = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            others.add(new HashMap<>());
        }
        pairs.forEach((a, b) -> {
            int i = Math.min(a, b);
            int k = Math.max(a, b);
            Distances distances = relation.between(i, k);
            if (!distances.isEmpty()) {
                related.join(i, k);
                if (!distances.areApart(buffers.get(i).bytes(), buffers.get(k).bytes())) {
                    others.get(i).put(k, distances);
                    others.get(k).put(i, distances.negated());
                }
            }
        });
        int[][] conflicts = related.toArrays();
        Distances[][] distances = new Distances[n][];
        int[][] disjoint = new int[n][];
        for (int i = 0; i < n; i++) {
            Map<Integer, Distances> other = others.get(i);
            WorkspaceBuffer buffer = buffers.get(i);
            boolean isPlain = other.isEmpty();
            distances[i] = isPlain
                    ? new Distances[0]
                    : Arrays.stream(conflicts[i])
                            .mapToObj(k -> other.containsKey(k)
                                    ? other.get(k)
                                    : Distances.apart(
                                            buffer.bytes(), buffers.get(k).bytes()))
                            .toArray(Distances[]::new);
            disjoint[i] = isPlain
                    ? conflicts[i]
                    : Arrays.stream(conflicts[i])
                            .filter(k -> !other.containsKey(k))
                            .toArray();
        }
        int[][] cliques = greedyCliques(buffers, disjoint);
        return new MemoryProblem(buffers, conflicts, cliques, distances, knownBound, AllowedPools.ONE);
    }

    /** The same problem with several pools. A plan puts buffers that fit nowhere at {@link PoolBounds#NOWHERE} or above. */
    public MemoryProblem in(PoolBounds bounds, PoolChoice choice) {
        AllowedPools allowed = AllowedPools.of(bounds, buffers, choice);
        return new MemoryProblem(buffers, conflicts, cliques, distances, knownBound, allowed);
    }

    /** The pools in which the buffers lie. */
    AllowedPools pools() {
        return pools;
    }

    public List<WorkspaceBuffer> buffers() {
        return buffers;
    }

    /** Least bytes of any plan: the heaviest known set of buffers that all conflict. */
    public long lowerBound() {
        return Math.max(
                knownBound, Arrays.stream(cliques).mapToLong(this::bytes).max().orElse(0));
    }

    /** The lower bound plus the least cost of alignment: all of a clique but the topmost fill up to the smallest alignment in it. */
    long alignedLowerBound() {
        return Math.max(
                knownBound,
                Arrays.stream(cliques).mapToLong(this::alignedBytes).max().orElse(0));
    }

    /** Forbidden differences of a buffer's offset and those of its neighbours, in the order of {@link #conflicts}; none if all must be apart. */
    Distances[] distances(int buffer) {
        return distances[buffer];
    }

    /** Indices of the buffers that a buffer must not overlap at some distance or at all. The array is shared: do not write to it. */
    int[] conflicts(int buffer) {
        return conflicts[buffer];
    }

    /** Sets of buffers of which no two may share a byte. The arrays are shared: do not write to them. */
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
            long aligned = MemoryPlanner.Placement.align(buffers.get(i).bytes(), alignment);
            sum += aligned;
            mostPadding = Math.max(mostPadding, aligned - buffers.get(i).bytes());
        }
        return sum - mostPadding;
    }

    /** Finds one clique around each buffer, heaviest neighbours first, unless an earlier clique is just the buffer and all of its neighbours. */
    private static int[][] greedyCliques(List<WorkspaceBuffer> buffers, int[][] conflicts) {
        List<int[]> cliques = new ArrayList<>();
        List<BitSet> conflicting = Arrays.stream(conflicts)
                .map(others -> {
                    BitSet set = new BitSet();
                    Arrays.stream(others).forEach(set::set);
                    return set;
                })
                .toList();
        int[] largest = new int[buffers.size()];
        for (int seed = 0; seed < largest.length; seed++) {
            if (buffers.get(seed).bytes() > 0 && largest[seed] != conflicts[seed].length + 1) {
                int[] clique = greedyClique(seed, buffers, conflicts[seed], conflicting);
                cliques.add(clique);
                for (int member : clique) {
                    largest[member] = Math.max(largest[member], clique.length);
                }
            }
        }
        return cliques.toArray(int[][]::new);
    }

    private static int[] greedyClique(
            int seed, List<WorkspaceBuffer> buffers, int[] neighbours, List<BitSet> conflicting) {
        List<Integer> heaviestFirst =
                new ArrayList<>(Arrays.stream(neighbours).boxed().toList());
        heaviestFirst.sort(
                (a, b) -> Long.compare(buffers.get(b).bytes(), buffers.get(a).bytes()));
        List<Integer> clique = new ArrayList<>(List.of(seed));
        BitSet fitting = (BitSet) conflicting.get(seed).clone();
        for (int i : heaviestFirst) {
            if (fitting.get(i)) {
                clique.add(i);
                fitting.and(conflicting.get(i));
            }
        }
        return toArray(clique);
    }

    private static void checkNames(List<WorkspaceBuffer> buffers) {
        Set<String> names = new HashSet<>();
        for (WorkspaceBuffer buffer : buffers) {
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
        private final int[][] lists;
        private final int[] sizes;

        Neighbours(int size) {
            lists = new int[size][];
            sizes = new int[size];
        }

        void join(int a, int b) {
            add(a, b);
            add(b, a);
        }

        private void add(int a, int b) {
            if (sizes[a] == 0) {
                lists[a] = new int[4];
            } else if (sizes[a] == lists[a].length) {
                lists[a] = Arrays.copyOf(lists[a], 2 * sizes[a]);
            }
            lists[a][sizes[a]++] = b;
        }

        /** The lists in ascending order. Called once, at the end. */
        int[][] toArrays() {
            for (int i = 0; i < lists.length; i++) {
                lists[i] = sizes[i] == 0 ? new int[0] : Arrays.copyOf(lists[i], sizes[i]);
                Arrays.sort(lists[i]);
            }
            return lists;
        }
    }

    /**
     * Several pools, and the buffers that must not lie in each.
     *
     * @param bounds the pools
     * @param forbidden by buffer the pools in which it must not lie, ascending; empty if every buffer may lie everywhere
     */
    record AllowedPools(PoolBounds bounds, List<List<Integer>> forbidden) {
        /** One pool, which may hold all buffers. */
        static final AllowedPools ONE = new AllowedPools(PoolBounds.ONE, List.of());

        AllowedPools {
            forbidden = List.copyOf(forbidden);
        }

        static AllowedPools of(PoolBounds bounds, List<WorkspaceBuffer> buffers, PoolChoice choice) {
            List<List<Integer>> forbidden = buffers.stream()
                    .map(buffer -> IntStream.range(0, bounds.pools())
                            .filter(pool -> !choice.mayHold(pool, buffer))
                            .boxed()
                            .toList())
                    .toList();
            return new AllowedPools(bounds, forbidden.stream().allMatch(List::isEmpty) ? List.of() : forbidden);
        }

        /** Whether any buffer is excluded from a pool. */
        boolean areRestricting() {
            return !forbidden.isEmpty();
        }

        /** The pools in which a buffer must not lie, ascending. */
        List<Integer> forbidden(int buffer) {
            return areRestricting() ? forbidden.get(buffer) : List.of();
        }
    }

    /** Which pools may hold a buffer. */
    @FunctionalInterface
    public interface PoolChoice {
        /** Whether the buffer may lie in the pool, given by index. */
        boolean mayHold(int pool, WorkspaceBuffer buffer);
    }

    /**
     * Several pools as adjoining ranges of one address space, in which buffers are then placed as in one pool: no buffer
     * crosses a bound. Low addresses are filled first, so that the first pool should be the fastest one.
     *
     * @param bounds first addresses of the pools after the first one, ascending, multiples of {@link #ALIGNMENT}
     * @param end the address behind the last pool; empty if it has no limit
     */
    public record PoolBounds(List<Long> bounds, OptionalLong end) {
        /** The largest alignment of a buffer: limits are rounded down to it, so that buffers are aligned in their pools. */
        static final long ALIGNMENT = 64;

        /** The address behind all pools, where a plan puts the buffers that fit nowhere. */
        public static final long NOWHERE = 1L << 50;

        /** One pool without a limit. */
        public static final PoolBounds ONE = new PoolBounds(List.of(), OptionalLong.empty());

        public PoolBounds {
            bounds = List.copyOf(bounds);
        }

        /**
         * Pools by their sizes.
         *
         * @param limits the most bytes of each pool; only the last may have none
         * @throws IllegalArgumentException if there is no pool, or one before the last has no limit
         */
        public static PoolBounds of(List<OptionalLong> limits) {
            List<Long> ends = new ArrayList<>();
            long next = 0;
            for (OptionalLong limit : limits.subList(0, limits.size() - 1)) {
                next += limit.orElseThrow(() -> new IllegalArgumentException("a pool before the last has no limit"))
                        & -ALIGNMENT;
                ends.add(next);
            }
            OptionalLong last = limits.get(limits.size() - 1);
            return new PoolBounds(ends, last.isPresent() ? OptionalLong.of(next + last.getAsLong()) : last);
        }

        /** How many pools there are. */
        public int pools() {
            return bounds.size() + 1;
        }

        /** The first address of a pool. */
        public long start(int pool) {
            return pool == 0 ? 0 : bounds.get(pool - 1);
        }

        /** The address behind a pool, and {@link #NOWHERE} behind the last one. */
        long end(int pool) {
            return pool == bounds.size() ? NOWHERE : bounds.get(pool);
        }

        public int poolOf(long address) {
            int pool = 0;
            while (pool < bounds.size() && bounds.get(pool) <= address) {
                pool++;
            }
            return pool;
        }
    }

    /**
     * A buffer in the workspace.
     *
     * @param name unique in its problem
     * @param bytes size, 0 or more
     * @param alignment a power of two; the offset is a multiple of it
     * @param firstUse first step of the execution order that touches it
     * @param lastUse last step that touches it, inclusive
     */
    public record WorkspaceBuffer(String name, long bytes, int alignment, int firstUse, int lastUse) {
        public WorkspaceBuffer {
            require(bytes >= 0 && bytes <= 1L << 40, name, "has a size of " + bytes + " bytes");
            require(Integer.bitCount(alignment) == 1 && alignment > 0, name, "has alignment " + alignment);
            require(firstUse <= lastUse, name, "is used from step " + firstUse + " to step " + lastUse);
        }

        /** Number of steps during which it is alive. */
        public long steps() {
            return (long) lastUse - firstUse + 1;
        }

        private static void require(boolean holds, String name, String what) {
            if (!holds) {
                throw new IllegalArgumentException("buffer `" + name + "` " + what);
            }
        }
    }
}
