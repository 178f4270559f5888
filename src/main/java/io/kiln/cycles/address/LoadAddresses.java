// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.decode.Instruction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The addresses that a block of Thumb code loads from, as sums of the registers before its first instruction and behind its last. A pointer
 * that the block itself loads is known from behind, as long as it is in a register there.
 */
public final class LoadAddresses {
    private static final int STACK = 13;

    private final List<Load> loads;

    private LoadAddresses(List<Load> loads) {
        this.loads = List.copyOf(loads);
    }

    /**
     * A load.
     *
     * @param instruction its index in the block
     * @param bytes that it reads
     * @param known whether its address is known from the registers
     */
    public record Load(int instruction, int bytes, boolean known, int constant, int[] registers, int[] factors) {
        /** Where it reads, unsigned. */
        public long address(int[] before, int[] behind) {
            int sum = constant;
            for (int i = 0; i < registers.length; i++) {
                int register = registers[i];
                sum += factors[i]
                        * (register < ThumbValues.REGISTERS
                                ? before[register]
                                : behind[register - ThumbValues.REGISTERS]);
            }
            return Integer.toUnsignedLong(sum);
        }
    }

    /** Loads in order; without those from the stack, which lies in RAM. */
    public List<Load> loads() {
        return loads;
    }

    /**
     * The loads of a block.
     *
     * @param elf the image
     * @param block its instructions
     */
    public static LoadAddresses of(ElfFile elf, List<Instruction> block) {
        ThumbValues values = new ThumbValues(elf, block);
        Map<Integer, Sum> known = solved(values);
        List<Load> loads = new ArrayList<>();
        for (ThumbValues.Load load : values.loads()) {
            if (load.address().factor(STACK) != 1) {
                loads.add(load(load, known));
            }
        }
        return new LoadAddresses(loads);
    }

    private static Load load(ThumbValues.Load load, Map<Integer, Sum> known) {
        Sum address = known(load.address(), known);
        int[] registers =
                address.terms().keySet().stream().mapToInt(Integer::intValue).toArray();
        int[] factors =
                address.terms().values().stream().mapToInt(Integer::intValue).toArray();
        boolean isKnown = address.terms().keySet().stream().allMatch(variable -> variable < 2 * ThumbValues.REGISTERS);
        return new Load(load.instruction(), load.bytes(), isKnown, address.constant(), registers, factors);
    }

    /** Variables that a block leaves in a register, alone or in a sum of known ones, by the registers before and behind it. */
    private static Map<Integer, Sum> solved(ThumbValues values) {
        Map<Integer, Sum> known = new TreeMap<>();
        boolean isNew = true;
        while (isNew) {
            isNew = false;
            for (int register = 0; register < ThumbValues.REGISTERS - 1; register++) {
                Sum value = known(values.register(register), known);
                List<Integer> open = value.terms().keySet().stream()
                        .filter(variable -> variable >= 2 * ThumbValues.REGISTERS)
                        .toList();
                if (open.size() == 1 && Math.abs(value.factor(open.get(0))) == 1) {
                    int variable = open.get(0);
                    int factor = value.factor(variable);
                    Sum others = value.plus(Sum.variable(variable), -factor);
                    Sum behind = Sum.variable(ThumbValues.REGISTERS + register);
                    known.put(variable, Sum.ZERO.plus(behind.plus(others, -1), factor));
                    isNew = true;
                }
            }
        }
        return known;
    }

    private static Sum known(Sum sum, Map<Integer, Sum> known) {
        Sum result = sum;
        for (int variable : sum.terms().keySet()) {
            if (known.containsKey(variable)) {
                result = result.replacing(variable, known.get(variable));
            }
        }
        return result;
    }
}
