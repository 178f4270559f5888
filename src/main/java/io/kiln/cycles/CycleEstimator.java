// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator.CycleEstimate.Cost;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.decode.Instruction;
import io.kiln.cycles.decode.MachineCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Estimates cycles from executed instructions. Each block is priced once, by itself, and multiplied by how often it was executed; what
 * two blocks could overlap is left out.
 */
public final class CycleEstimator {
    private final MachineCode code;
    private final CoreTimings core;
    private final BlockTimings timings;
    private final Map<Long, List<Instruction>> decoded = new HashMap<>();

    private CycleEstimator(ElfFile elf, CoreTimings core) {
        this.code = MachineCode.of(elf);
        this.core = core;
        this.timings = new BlockTimings(core);
    }

    /**
     * Estimates the cycles of executed blocks.
     *
     * @param elf the image that ran
     * @param blocks what was executed of it
     * @param core timings of the core
     * @throws KilnException if a block is not in the image
     */
    public static CycleEstimate estimate(ElfFile elf, List<ExecutedBlock> blocks, CoreTimings core) {
        return new CycleEstimator(elf, core).all(blocks);
    }

    private CycleEstimate all(List<ExecutedBlock> blocks) {
        List<Cost> owners = new ArrayList<>();
        long unknown = 0;
        for (ExecutedBlock block : blocks) {
            while (owners.size() <= block.owner()) {
                owners.add(Cost.NONE);
            }
            List<Instruction> instructions = instructions(block);
            owners.set(block.owner(), owners.get(block.owner()).plus(cost(block, instructions)));
            unknown += block.count()
                    * instructions.stream().filter(i -> !core.knows(i.kind())).count();
        }
        return new CycleEstimate(owners.stream().reduce(Cost.NONE, Cost::plus), owners, unknown);
    }

    private List<Instruction> instructions(ExecutedBlock block) {
        List<Instruction> found = decoded.computeIfAbsent(
                block.start() << Short.SIZE | block.instructions(),
                key -> code.from(block.start(), block.instructions()));
        if (found.size() != block.instructions() || found.isEmpty()) {
            throw Failure.PROFILE.exception(
                    "instructions were executed at 0x" + Long.toHexString(block.start())
                            + ", but the image has no code there",
                    "estimate of cycles");
        }
        return found;
    }

    private Cost cost(ExecutedBlock block, List<Instruction> instructions) {
        Instruction last = instructions.get(instructions.size() - 1);
        CycleRange taken = core.price(last.kind()).taken().orElse(core.taken());
        long bytes = last.end() - block.start();
        long loads = instructions.stream().filter(i -> i.kind().isLoad()).count();
        return new Cost(
                timings.of(instructions).times(block.count()).plus(taken.times(block.taken())),
                block.instructions() * block.count(),
                bytes * block.count(),
                loads * block.count(),
                block.taken());
    }

    /**
     * The cost of executed code on a core.
     *
     * @param whole all of it
     * @param owners by owner of the blocks, from 0 on
     * @param unknown executed instructions that the core's table does not have; they are priced like arithmetic
     */
    public record CycleEstimate(Cost whole, List<Cost> owners, long unknown) {
        public CycleEstimate {
            owners = List.copyOf(owners);
        }

        /**
         * The cost of a part of the code.
         *
         * @param cycles without wait states
         * @param instructions executed
         * @param codeBytes bytes of these instructions
         * @param loads instructions that load from memory
         * @param taken branches, calls and returns taken
         */
        public record Cost(CycleRange cycles, long instructions, long codeBytes, long loads, long taken) {
            /** The cost of no code. */
            public static final Cost NONE = new Cost(CycleRange.NONE, 0, 0, 0, 0);

            /** The sum of this cost and another. */
            public Cost plus(Cost other) {
                return new Cost(
                        cycles.plus(other.cycles),
                        instructions + other.instructions,
                        codeBytes + other.codeBytes,
                        loads + other.loads,
                        taken + other.taken);
            }
        }
    }
}
