// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.compile.CodeTarget.MemoryPools;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import io.kiln.target.MemoryPool;
import io.kiln.target.MemoryPool.MemoryReach;
import io.kiln.target.SpareRam;
import io.kiln.target.SpareRam.Reads;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.CodeFetch;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.PoolMemories;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The compiler's memory pools for a board.
 *
 * <p>Fast memories come first, those of one speed in the board's order. A memory that a model shares with variables or code gives it three
 * quarters unless the build says otherwise, any other its whole size. The last one has no limit: the linker tells what does not fit.
 *
 * <p>If a board has a further memory, for constants that do not fit, the models share those three quarters, and what is read less often lies
 * in the further memory.
 */
public final class BoardPools {
    private static final int ALIGNMENT = 16;

    /** The models of an image take this part of the RAM of variables for copies unasked, */
    private static final int SHARE_OF_RAM = 16;

    /** and at most so many bytes. */
    private static final long LARGEST_SHARE = 32 << 10;

    /** Kernels get half of a cache for code and constants: a table larger than the other half is read anew in each pass. */
    private static final int HALF = 2;

    private BoardPools() {}

    /**
     * The pools of a board.
     *
     * @param limits the most bytes of a model by name of the memory
     * @param models how many models the image has
     */
    public static MemoryPools of(Board board, Map<String, Long> limits, int models) {
        return of(board, limits, OptionalLong.empty(), models);
    }

    /**
     * The pools of a board whose image may not take all RAM.
     *
     * @param limits the most bytes of a model by name of the memory
     * @param ram the most bytes of the image; empty for all that the board has
     * @param models how many models the image has
     */
    public static MemoryPools of(Board board, Map<String, Long> limits, OptionalLong ram, int models) {
        return board.pools()
                .map(pools -> new MemoryPools(
                        pools(board, pools.workspace(), MemoryPool.GLOBAL_WORKSPACE, limits),
                        isDivided(board)
                                ? divided(board, pools, limits, models)
                                : pools(board, pools.constants(), MemoryPool.GLOBAL_CONSTANTS, limits),
                        spare(board, pools, limits, ram, models)))
                .orElse(MemoryPools.GLOBAL);
    }

    /** The RAM that a model may take for copies: a part of the board's, and no more than a build leaves it. */
    private static SpareRam spare(
            Board board, PoolMemories pools, Map<String, Long> limits, OptionalLong ram, int models) {
        Memory variables = memory(board, pools.variables());
        Optional<MemoryWait> flash = memory(board, pools.code()).waits();
        boolean hasFastCode = memory(board, pools.ramCode())
                .fetch()
                .filter(fetch -> fetch != CodeFetch.SYSTEM_BUS)
                .isPresent();
        long most = Math.min(ram.orElse(Long.MAX_VALUE), limits.getOrDefault(pools.variables(), variables.size()));
        return new SpareRam(
                Math.min(LARGEST_SHARE, variables.size() / SHARE_OF_RAM) / Math.max(1, models),
                most,
                hasFastCode,
                flash.map(BoardPools::constants).orElse(Reads.FREE),
                flash.map(BoardPools::code).orElse(Reads.FREE));
    }

    private static Reads constants(MemoryWait wait) {
        int states = states(wait, wait.data().isPresent());
        return wait.data()
                .flatMap(data -> data instanceof DataCache.Own own
                        ? Optional.of(new Reads(
                                states, own.cache().sectorBytes(), own.cache().bytes()))
                        : wait.fetch().map(cache -> new Reads(states, cache.sectorBytes(), cache.bytes() / HALF)))
                .orElseGet(() -> new Reads(states, Integer.BYTES, 0));
    }

    private static Reads code(MemoryWait wait) {
        int states = states(wait, wait.fetch().isPresent());
        Reads reads = wait.fetch()
                .map(cache -> new Reads(states, cache.sectorBytes(), cache.bytes()))
                .orElseGet(() -> new Reads(states, wait.lineBytes(), 0));
        // While a line is executed, at an instruction a cycle, the next one is on its way.
        int hidden = wait.prefetch() ? reads.lineBytes() / Integer.BYTES - 1 : 0;
        return new Reads(Math.max(0, states - hidden), reads.lineBytes(), reads.cacheBytes());
    }

    /** What a line costs that a cache does not have, or each read where there is none. */
    private static int states(MemoryWait wait, boolean isCached) {
        return isCached
                ? wait.missCycles().map(cycles -> (int) cycles.expected()).orElse(wait.states())
                : wait.states();
    }

    /** A problem for each limit of a memory that is not a pool of the board. */
    static List<Problem> problems(Board board, Map<String, Long> limits) {
        List<String> known = new ArrayList<>();
        board.pools().ifPresent(pools -> {
            known.addAll(pools.workspace());
            known.addAll(pools.constants());
            pools.moreConstants().filter(more -> isDivided(board)).ifPresent(known::add);
        });
        Problems problems = new Problems(Failure.MEMORY);
        limits.keySet().stream()
                .filter(name -> !known.contains(name))
                .forEach(name -> problems.add(
                        "board " + board.id() + " has no memory pool " + name,
                        "kiln.memory." + name,
                        known.isEmpty()
                                ? "no limits: the board names no pools"
                                : "one of " + String.join(", ", known)));
        return problems.list();
    }

    /** Whether a model's constants are divided between two memories; models in slots bring all of theirs with them. */
    private static boolean isDivided(Board board) {
        return board.pools()
                .filter(pools -> pools.moreConstants().isPresent()
                        && pools.constants().size() == 1
                        && pools.slots().isEmpty())
                .isPresent();
    }

    private static List<MemoryPool> divided(Board board, PoolMemories pools, Map<String, Long> limits, int models) {
        String near = pools.code();
        String far = pools.moreConstants().orElseThrow();
        long limit = limits.getOrDefault(near, usual(board, near) / Math.max(1, models));
        return List.of(
                new MemoryPool(
                        InterfaceNames.NEAR_CONSTANTS,
                        ALIGNMENT,
                        OptionalLong.of(limit),
                        new MemoryReach(near, memory(board, near).targets())),
                new MemoryPool(
                        MemoryPool.GLOBAL_CONSTANTS.name(),
                        ALIGNMENT,
                        limits.containsKey(far) ? OptionalLong.of(limits.get(far)) : OptionalLong.empty(),
                        new MemoryReach(far, memory(board, far).targets())));
    }

    private static List<MemoryPool> pools(
            Board board, List<String> names, MemoryPool single, Map<String, Long> limits) {
        List<String> fastestFirst = names.stream()
                .sorted(Comparator.comparing(name -> memory(board, name).speed()))
                .toList();
        List<MemoryPool> pools = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String memory = fastestFirst.get(i);
            String name = names.size() == 1 ? single.name() : memory;
            OptionalLong limit = limits.containsKey(memory)
                    ? OptionalLong.of(limits.get(memory))
                    : i == names.size() - 1 ? OptionalLong.empty() : OptionalLong.of(usual(board, memory));
            pools.add(new MemoryPool(
                    name,
                    ALIGNMENT,
                    limit,
                    new MemoryReach(memory, memory(board, memory).targets())));
        }
        return pools;
    }

    private static long usual(Board board, String name) {
        long size = memory(board, name).size();
        boolean isShared = board.pools()
                .filter(pools -> pools.code().equals(name) || pools.variables().equals(name))
                .isPresent();
        return isShared ? size / 4 * 3 : size;
    }

    private static Memory memory(Board board, String name) {
        return board.memory(name).orElseThrow();
    }
}
