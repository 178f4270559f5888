// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink.ExecutedBlock;
import io.kiln.cycles.CycleEstimator.CycleEstimate.Cost;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.cycles.core.CoreTimings.Pairing;
import io.kiln.cycles.core.CoreTimings.Price;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.decode.Instruction;
import io.kiln.cycles.decode.MachineCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

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

    /**
     * How long a core takes for instructions one after the other: in order, each as soon as the one before has been issued, what it reads is
     * ready and its unit is free. Cores that issue two instructions in a cycle do so where the table allows it and neither needs the other;
     * the high bound of a range has no pairs and no overlap of units.
     */
    static final class BlockTimings {
        private final CoreTimings core;

        BlockTimings(CoreTimings core) {
            this.core = core;
        }

        /** Cycles until the instruction behind the last can be issued, if no branch is taken. */
        CycleRange of(List<Instruction> block) {
            long low = new Pipeline(Bound.LOW).run(block);
            long expected = Math.max(low, new Pipeline(Bound.EXPECTED).run(block));
            return new CycleRange(low, expected, Math.max(expected, new Pipeline(Bound.HIGH).run(block)));
        }

        /** Expected cycles from when each instruction can be issued until the next one can. */
        long[] issued(List<Instruction> block) {
            Pipeline pipeline = new Pipeline(Bound.EXPECTED);
            long whole = pipeline.run(block);
            long[] cycles = new long[block.size()];
            long before = 0;
            for (int i = 0; i < cycles.length; i++) {
                long behind = i + 1 < cycles.length ? pipeline.ends.get(i) : whole;
                cycles[i] = behind - before;
                before = behind;
            }
            return cycles;
        }

        /** The state of the core's pipeline while it executes a block: when registers and units are free. */
        private final class Pipeline {
            private final Bound bound;
            private final Map<Integer, Long> ready = new HashMap<>();
            private final Map<String, Long> free = new HashMap<>();
            private final Map<String, Long> work = new HashMap<>();
            private final List<Long> ends = new ArrayList<>();
            private long next;
            private long issued;
            private boolean paired;

            Pipeline(Bound bound) {
                this.bound = bound;
            }

            long run(List<Instruction> block) {
                Optional<Instruction> before = Optional.empty();
                for (Instruction instruction : block) {
                    paired = before.filter(one -> pairs(one, instruction)).isPresent();
                    if (paired) {
                        finish(instruction, core.price(instruction.kind()), issued);
                    } else {
                        issue(before, instruction);
                    }
                    before = Optional.of(instruction);
                    ends.add(next);
                }
                // Blocks repeat: no unit can do more than its work in each turn.
                return Math.max(
                        next,
                        work.values().stream().mapToLong(Long::longValue).max().orElse(0));
            }

            private void issue(Optional<Instruction> before, Instruction instruction) {
                Price price = core.price(instruction.kind());
                long start = Math.max(next, free.getOrDefault(price.unit(), 0L));
                for (int register : registers(instruction.reads())) {
                    start = Math.max(start, ready.getOrDefault(register, 0L));
                }
                issued = start;
                next = start + cycles(before, instruction, price);
                finish(instruction, price, start);
            }

            private long cycles(Optional<Instruction> before, Instruction instruction, Price price) {
                long cycles = price.cycles().at(bound)
                        + instruction.words() * price.perWord().at(bound);
                if (price.behindAccess().isPresent()
                        && before.filter(BlockTimings::isPlainAccess).isPresent()) {
                    cycles = price.behindAccess().get().at(bound);
                }
                if (before.filter(one -> computes(one, instruction.addresses())).isPresent()) {
                    cycles += core.addressDependency().at(bound);
                }
                return bound == Bound.HIGH ? Math.max(cycles, price.busy().at(bound)) : cycles;
            }

            private void finish(Instruction instruction, Price price, long start) {
                long latency = price.latency().at(bound);
                if (latency > 0) {
                    registers(instruction.writes()).forEach(register -> ready.put(register, start + latency));
                }
                long busy = price.busy().at(bound);
                if (busy > 0) {
                    free.put(price.unit(), start + busy);
                    work.merge(price.unit(), busy, Long::sum);
                }
            }

            private boolean pairs(Instruction one, Instruction other) {
                if (bound == Bound.HIGH || paired || core.pairing().isEmpty()) {
                    return false;
                }
                Pairing pairing = core.pairing().get();
                Price price = core.price(other.kind());
                String unit = core.price(one.kind()).unit();
                boolean isIndependent = (one.writes() & (other.reads() | other.writes())) == 0;
                boolean isShort = !pairing.narrow() || one.bytes() + other.bytes() == 4;
                return pairing.allows(unit, price.unit())
                        && isIndependent
                        && isShort
                        && next == issued + 1
                        && isReady(other, price);
            }

            private boolean isReady(Instruction instruction, Price price) {
                return free.getOrDefault(price.unit(), 0L) <= issued
                        && price.cycles().at(bound) <= 1
                        && registers(instruction.reads()).stream()
                                .allMatch(register -> ready.getOrDefault(register, 0L) <= issued);
            }
        }

        private static boolean isPlainAccess(Instruction instruction) {
            return instruction.kind().isSingleAccess() && !instruction.writesBack();
        }

        private static boolean computes(Instruction instruction, long registers) {
            return !instruction.kind().isLoad() && (instruction.writes() & registers) != 0;
        }

        private static List<Integer> registers(long mask) {
            return mask == 0
                    ? List.of()
                    : IntStream.range(0, Long.SIZE)
                            .filter(i -> (mask >>> i & 1) != 0)
                            .boxed()
                            .toList();
        }
    }
}
