// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.core;

import io.kiln.cycles.decode.InstructionKind;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The instruction timings of a core, with code and data in memory without wait states.
 *
 * @param id name of its file
 * @param title one line for people
 * @param cpus values of {@code -mcpu} or {@code -march}, without what follows a plus sign
 * @param pairing how two instructions are issued in one cycle; empty if none are
 * @param taken further cycles of a branch that is taken
 * @param addressDependency further cycles of a load or store whose address the instruction before has computed
 * @param prices by kind of instruction
 */
public record CoreTimings(
        String id,
        String title,
        List<String> cpus,
        Optional<Pairing> pairing,
        CycleRange taken,
        CycleRange addressDependency,
        Map<InstructionKind, Price> prices) {

    public CoreTimings {
        cpus = List.copyOf(cpus);
        prices = Collections.unmodifiableMap(new EnumMap<>(prices));
    }

    /**
     * Issue of two instructions in one cycle.
     *
     * @param narrow whether both must be instructions of 16 bits
     * @param units how many instructions of a unit can be issued together; 1 for units that are not named, 0 for those of instructions that
     *     are issued alone
     */
    public record Pairing(boolean narrow, Map<String, Integer> units) {
        public Pairing {
            units = Collections.unmodifiableMap(new TreeMap<>(units));
        }

        /** Whether instructions of these units can be issued together. */
        public boolean allows(String one, String other) {
            int needed = one.equals(other) ? 2 : 1;
            return units.getOrDefault(one, 1) >= needed && units.getOrDefault(other, 1) >= needed;
        }
    }

    /** Whether the core's table has this kind of instruction. */
    public boolean knows(InstructionKind kind) {
        return prices.containsKey(kind);
    }

    /** The price of a kind; that of arithmetic for kinds that the table does not have. */
    public Price price(InstructionKind kind) {
        return prices.getOrDefault(kind, prices.get(InstructionKind.ALU));
    }

    /**
     * The cost of one kind of instruction.
     *
     * @param cycles until the next instruction can be issued
     * @param perWord further cycles for each word of a multiple load or store
     * @param behindAccess instead of {@code cycles}, right behind a load or store of one register that does not write its base back
     * @param taken further cycles if it branches; empty for those of the core
     * @param latency cycles until an instruction that reads the result can be issued, if they are more than {@code cycles}
     * @param busy cycles for which it occupies its unit, if they are more than {@code cycles}
     * @param unit the part of the core that executes it
     */
    public record Price(
            CycleRange cycles,
            CycleRange perWord,
            Optional<CycleRange> behindAccess,
            Optional<CycleRange> taken,
            CycleRange latency,
            CycleRange busy,
            String unit) {}
}
