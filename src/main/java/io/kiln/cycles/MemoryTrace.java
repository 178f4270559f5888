// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.address.ImageAddresses;
import io.kiln.cycles.address.LoadAddresses;
import io.kiln.cycles.address.LoadAddresses.Load;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.decode.Instruction;
import io.kiln.cycles.decode.MachineCode;
import io.kiln.cycles.memory.CoreClock;
import io.kiln.cycles.memory.MemorySetting;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
        static final Stalls NONE = new Stalls(0, 0);

        /** The sum of these and others. */
        public Stalls plus(Stalls other) {
            return new Stalls(fetch + other.fetch, data + other.data);
        }

        Stalls minus(Stalls other) {
            return new Stalls(fetch - other.fetch, data - other.data);
        }
    }

    /** A block as the board has it. */
    private static final class Priced {
        final List<Instruction> instructions;
        final long[] issue;
        final long start;
        final long end;
        final long taken;
        final List<Load> loads;
        final long[] places;
        Stalls[] stalls;

        Priced(List<Instruction> instructions, long[] issue, long start, long taken, List<Load> loads) {
            this.instructions = instructions;
            this.issue = issue;
            this.start = start;
            this.end = start
                    + instructions.get(instructions.size() - 1).end()
                    - instructions.get(0).address();
            this.taken = taken;
            this.loads = loads;
            this.places = new long[loads.size()];
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

    @Override
    public void executed(int owner, long start, int instructions, int[] before, int[] after) {
        if (instructions == 0) {
            return;
        }
        Priced block = blocks.computeIfAbsent(start << Short.SIZE | instructions, key -> priced(start, instructions));
        for (int i = 0; i < block.places.length; i++) {
            Load load = block.loads.get(i);
            boolean isKnown = load.known() && before.length > 0;
            unknownLoads += isKnown ? 0 : 1;
            block.places[i] = isKnown ? addresses.of(load.address(before, after)) : -1;
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
                LoadAddresses.of(ran, instructions).loads());
        block.stalls = none();
        return block;
    }

    private Stalls run(CoreClock clock, Priced block) {
        Stalls before = new Stalls(clock.fetchStalls(), clock.dataStalls());
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
                if (block.places[load] >= 0) {
                    clock.load(block.places[load], block.loads.get(load).bytes());
                }
            }
            clock.issue(block.issue[i]);
        }
        return new Stalls(clock.fetchStalls(), clock.dataStalls()).minus(before);
    }
}
