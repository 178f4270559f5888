// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.CycleEstimator.BlockTimings;
import io.kiln.cycles.address.LoadAddresses;
import io.kiln.cycles.address.LoadAddresses.ImageAddresses;
import io.kiln.cycles.address.LoadAddresses.Load;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.decode.Instruction;
import io.kiln.cycles.decode.MachineCode;
import io.kiln.cycles.memory.CoreClock;
import io.kiln.cycles.memory.MemorySetting;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Runs executed blocks, in their order, through a board's memories in several settings at once. Its memory grows with the code executed,
 * not with how often it is. Only what a setting takes longer than memories without waits counts.
 */
public final class MemoryTrace implements BlockSink {
    private static final int WORD = 4;
    private static final int PAIR = 8;

    private final ElfFile ran;
    private final MachineCode code;
    private final CoreTimings core;
    private final BlockTimings timings;
    private final ImageAddresses addresses;
    private final CoreClock free;
    private final List<CoreClock> clocks;
    private final Map<Long, Priced> blocks = new HashMap<>();
    private final List<Stalls[]> owners = new ArrayList<>();
    private final Map<Long, Long> loops = new HashMap<>();
    private final NavigableMap<Long, String> functions = new TreeMap<>();
    private final LoadAddresses.Stack stack = new LoadAddresses.Stack();
    private long before = -1;
    private long behind = -1;
    private long taken;
    private long unknownLoads;

    /**
     * Cycles that a core waits.
     *
     * @param fetch for instructions
     * @param data for constants
     */
    public record Stalls(long fetch, long data) {
        /** No waits. */
        public static final Stalls NONE = new Stalls(0, 0);

        /** The sum of these and others. */
        public Stalls plus(Stalls other) {
            return new Stalls(fetch + other.fetch, data + other.data);
        }

        Stalls minus(Stalls other) {
            return new Stalls(fetch - other.fetch, data - other.data);
        }
    }

    /**
     * A loop, from the place that a branch goes back to, to the last such branch.
     *
     * @param function whose it is
     * @param address of its first instruction, in the board's image
     * @param bytes from there to behind the branch
     * @param fetchStalls what it waited for instructions, without the loops in it and the functions that it calls
     */
    public record Loop(String function, long address, long bytes, long fetchStalls) {
        boolean contains(long other) {
            return other >= address && other < address + bytes;
        }
    }

    /** A block as the board has it. */
    private static final class Priced {
        final List<Instruction> instructions;
        final long[] issue;
        final long start;
        final long end;
        final long taken;
        final LoadAddresses addresses;
        final List<Load> loads;
        final long[] places;
        Stalls[] stalls;

        Priced(List<Instruction> instructions, long[] issue, long start, long taken, LoadAddresses addresses) {
            this.instructions = instructions;
            this.issue = issue;
            this.start = start;
            this.end = start
                    + instructions.get(instructions.size() - 1).end()
                    - instructions.get(0).address();
            this.taken = taken;
            this.addresses = addresses;
            this.loads = addresses.loads();
            this.places = new long[this.loads.size()];
        }
    }

    /**
     * @param ran the image that runs
     * @param board the board's, linked from the same objects; the same if the board itself runs
     * @param core timings of the core
     * @param settings the memories
     */
    public MemoryTrace(ElfFile ran, ElfFile board, CoreTimings core, List<MemorySetting> settings) {
        this.ran = ran;
        this.code = MachineCode.of(ran);
        this.core = core;
        this.timings = new BlockTimings(core);
        this.addresses = ImageAddresses.of(ran, board);
        int word = core.pairing().isPresent() ? PAIR : WORD;
        board.symbols().stream()
                .filter(symbol -> symbol.isFunction() && symbol.size() > 0)
                .forEach(symbol -> functions.put(symbol.value() & ~1L, symbol.name()));
        this.free = new CoreClock(settings.get(0).withoutWaits(), word);
        this.clocks =
                settings.stream().map(setting -> new CoreClock(setting, word)).toList();
    }

    /** Loads whose address the registers did not tell; they count as loads from RAM. */
    public long unknownLoads() {
        return unknownLoads;
    }

    /** What an owner's blocks waited in a setting. */
    public Stalls stalls(int setting, int owner) {
        return owner < owners.size() ? owners.get(owner)[setting] : Stalls.NONE;
    }

    /** What all blocks waited in a setting. */
    public Stalls stalls(int setting) {
        return owners.stream().map(all -> all[setting]).reduce(Stalls.NONE, Stalls::plus);
    }

    /** Loops that are larger than so many bytes and wait for instructions, those that wait most first. */
    public List<Loop> loopsBeyond(int setting, long bytes) {
        List<Loop> all = loops.entrySet().stream()
                .map(loop -> new Loop(function(loop.getKey()), loop.getKey(), loop.getValue() - loop.getKey(), 0))
                .sorted(Comparator.comparingLong(Loop::bytes))
                .toList();
        Map<Loop, Long> waits = new HashMap<>();
        for (Priced block : blocks.values()) {
            all.stream()
                    .filter(loop -> loop.contains(block.start))
                    .findFirst()
                    .ifPresent(loop -> waits.merge(loop, block.stalls[setting].fetch(), Long::sum));
        }
        return all.stream()
                .filter(loop -> loop.bytes() > bytes && waits.getOrDefault(loop, 0L) > 0)
                .map(loop -> new Loop(loop.function(), loop.address(), loop.bytes(), waits.get(loop)))
                .sorted(Comparator.comparingLong(Loop::fetchStalls).reversed())
                .toList();
    }

    private String function(long address) {
        Map.Entry<Long, String> function = functions.floorEntry(address);
        return function == null ? "" : function.getValue();
    }

    @Override
    public void executed(int owner, long start, int instructions, int[] registers, int[] after) {
        if (instructions == 0) {
            return;
        }
        Priced block = blocks.computeIfAbsent(start << Short.SIZE | instructions, key -> priced(start, instructions));
        Arrays.fill(block.places, CoreClock.UNKNOWN);
        if (registers.length > 0) {
            block.addresses.find(registers, after, stack, block.places);
        }
        for (int i = 0; i < block.places.length; i++) {
            if (block.places[i] == CoreClock.UNKNOWN) {
                unknownLoads++;
            } else {
                block.places[i] = addresses.of(block.places[i]);
            }
        }
        while (owners.size() <= owner) {
            owners.add(none());
        }
        Stalls least = run(free, block);
        Stalls[] sums = owners.get(owner);
        for (int i = 0; i < clocks.size(); i++) {
            Stalls stalls = run(clocks.get(i), block).minus(least);
            sums[i] = sums[i].plus(stalls);
            block.stalls[i] = block.stalls[i].plus(stalls);
        }
        boolean isBack = block.start <= before && behind != block.start;
        if (isBack && function(block.start).equals(function(before))) {
            loops.merge(block.start, behind, Math::max);
        }
        before = block.start;
        behind = block.end;
        taken = block.taken;
    }

    private Stalls[] none() {
        Stalls[] none = new Stalls[clocks.size()];
        Arrays.fill(none, Stalls.NONE);
        return none;
    }

    private Priced priced(long start, int count) {
        List<Instruction> instructions = code.from(start, count);
        Instruction last = instructions.get(instructions.size() - 1);
        Priced block = new Priced(
                instructions,
                timings.issued(instructions),
                addresses.of(start),
                core.price(last.kind()).taken().orElse(core.taken()).expected(),
                LoadAddresses.of(ran, instructions));
        block.stalls = none();
        return block;
    }

    private Stalls run(CoreClock clock, Priced block) {
        Stalls sofar = new Stalls(clock.fetchStalls(), clock.dataStalls());
        if (block.start != behind) {
            clock.branch(taken, block.start);
        }
        clock.enter(block.start, block.end);
        long distance = block.start - block.instructions.get(0).address();
        int load = 0;
        for (int i = 0; i < block.issue.length; i++) {
            Instruction instruction = block.instructions.get(i);
            clock.begin(instruction.address() + distance, instruction.bytes());
            for (; load < block.places.length && block.loads.get(load).instruction() == i; load++) {
                clock.load(block.places[load], block.loads.get(load).bytes());
            }
            clock.issue(block.issue[i]);
        }
        return new Stalls(clock.fetchStalls(), clock.dataStalls()).minus(sofar);
    }
}
