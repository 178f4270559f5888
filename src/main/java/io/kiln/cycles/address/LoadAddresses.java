// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.address.BlockValues.Access;
import io.kiln.cycles.address.BlockValues.Sum;
import io.kiln.cycles.decode.Instruction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * The addresses that a block of code loads from, each as a sum of registers, of their values before the block's first instruction or after its last one. A
 * pointer that the block itself loads is known only from the values after it, while it is still in a register, or from the stack, if a block stored it there.
 */
public final class LoadAddresses {
    /** What stands for an address that is not known. */
    public static final long UNKNOWN = -1;

    private static final int WORD = 4;
    private static final int FIRST_VARIABLE = 2 * BlockValues.REGISTERS;

    private final List<Step> steps = new ArrayList<>();
    private final List<Load> loads = new ArrayList<>();

    /**
     * A load, not from the stack.
     *
     * @param instruction its index in the block
     * @param bytes that it reads
     */
    public record Load(int instruction, int bytes) {}

    /** What a program keeps on its stack, as far as it was stored by blocks that were seen. */
    public static final class Stack {
        private final Map<Integer, Integer> words = new HashMap<>();
    }

    /** A load of a value, or a load or store of the stack. */
    private record Step(Access access, boolean isOfStack) {}

    private LoadAddresses(BlockValues values) {
        Map<Integer, Sum> known = solved(values);
        for (Access access : values.accesses()) {
            Sum address = known(access.address(), known);
            boolean isOfStack = address.factor(values.stackPointer()) == 1;
            if (isOfStack || !access.isStore()) {
                List<Sum> words =
                        access.words().stream().map(word -> known(word, known)).toList();
                Access found = new Access(access.instruction(), access.isStore(), access.bytes(), address, words);
                steps.add(new Step(found, isOfStack));
                if (!isOfStack) {
                    loads.add(new Load(access.instruction(), access.bytes()));
                }
            }
        }
    }

    /**
     * The loads of a block.
     *
     * @param elf the image
     * @param block its instructions
     */
    public static LoadAddresses of(ElfFile elf, List<Instruction> block) {
        return new LoadAddresses(BlockValues.of(elf, block));
    }

    /** Loads in order; without those from the stack, which lies in RAM. */
    public List<Load> loads() {
        return loads;
    }

    /**
     * Finds the addresses of the loads in an execution.
     *
     * @param before the registers before the first instruction
     * @param behind those behind the last
     * @param stack what was stored before; this block's stores are added
     * @param addresses of the loads, unsigned, or {@link #UNKNOWN}
     */
    public void find(int[] before, int[] behind, Stack stack, long[] addresses) {
        Registers registers = new Registers(before, behind);
        int load = 0;
        for (Step step : steps) {
            OptionalInt address = registers.value(step.access.address());
            if (!step.isOfStack) {
                addresses[load] = address.isPresent() ? Integer.toUnsignedLong(address.getAsInt()) : UNKNOWN;
                load++;
            } else if (address.isPresent()) {
                stack(step.access, address.getAsInt(), stack.words, registers);
            }
        }
    }

    private static void stack(Access access, int address, Map<Integer, Integer> words, Registers registers) {
        if (!access.isStore()) {
            for (int i = 0; i < access.words().size(); i++) {
                Integer word = words.get(address + i * WORD);
                Sum target = access.words().get(i);
                if (word != null && target.terms().size() == 1 && target.constant() == 0) {
                    target.terms().keySet().forEach(variable -> registers.loaded.put(variable, word));
                }
            }
            return;
        }
        for (int at = address & -WORD; at < address + access.bytes(); at += WORD) {
            words.remove(at);
        }
        for (int i = 0; i < access.words().size(); i++) {
            int at = address + i * WORD;
            registers.value(access.words().get(i)).ifPresent(word -> words.put(at, word));
        }
    }

    /** The values of variables. */
    private static final class Registers {
        private final int[] before;
        private final int[] behind;
        private final Map<Integer, Integer> loaded = new HashMap<>();

        Registers(int[] before, int[] behind) {
            this.before = before;
            this.behind = behind;
        }

        OptionalInt value(Sum sum) {
            int value = sum.constant();
            for (Map.Entry<Integer, Integer> term : sum.terms().entrySet()) {
                int variable = term.getKey();
                if (variable >= FIRST_VARIABLE && !loaded.containsKey(variable)) {
                    return OptionalInt.empty();
                }
                value += term.getValue() * of(variable);
            }
            return OptionalInt.of(value);
        }

        private int of(int variable) {
            if (variable >= FIRST_VARIABLE) {
                return loaded.get(variable);
            }
            return variable < BlockValues.REGISTERS ? before[variable] : behind[variable - BlockValues.REGISTERS];
        }
    }

    /** Variables that a block leaves in a register, alone or in a sum of known ones, by the registers before and behind it. */
    private static Map<Integer, Sum> solved(BlockValues values) {
        Map<Integer, Sum> known = new TreeMap<>();
        boolean isNew = true;
        while (isNew) {
            isNew = false;
            for (int register = 0; register < values.count(); register++) {
                Sum value = known(values.register(register), known);
                List<Integer> open = value.terms().keySet().stream()
                        .filter(variable -> variable >= FIRST_VARIABLE)
                        .toList();
                if (open.size() == 1 && Math.abs(value.factor(open.get(0))) == 1) {
                    int variable = open.get(0);
                    int factor = value.factor(variable);
                    Sum others = value.plus(Sum.variable(variable), -factor);
                    Sum behind = Sum.variable(BlockValues.REGISTERS + register);
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

    /**
     * Translates addresses of code and constants of one image to another image that was linked from the same objects. An address keeps its distance to
     * the symbol to which it belongs; where it has none, or only one image has it, to the symbol before.
     */
    public static final class ImageAddresses {
        private final NavigableMap<Long, Long> distances = new TreeMap<>();

        private ImageAddresses(Map<String, List<Long>> from, Map<String, List<Long>> to) {
            from.forEach((name, addresses) -> {
                List<Long> others = to.getOrDefault(name, List.of());
                for (int i = 0; others.size() == addresses.size() && i < others.size(); i++) {
                    distances.put(addresses.get(i), others.get(i) - addresses.get(i));
                }
            });
        }

        public static ImageAddresses of(ElfFile from, ElfFile to) {
            return new ImageAddresses(addresses(from), addresses(to));
        }

        private static Map<String, List<Long>> addresses(ElfFile elf) {
            Map<String, List<Long>> byName = new TreeMap<>();
            elf.symbols().stream()
                    .filter(symbol -> (symbol.isFunction() || symbol.isObject()) && symbol.size() > 0)
                    .sorted(Comparator.comparingLong(Symbol::value))
                    .forEach(symbol -> {
                        // Functions of one file may be named like those of another, but hardly with the same size.
                        List<Long> all =
                                byName.computeIfAbsent(symbol.name() + " " + symbol.size(), key -> new ArrayList<>());
                        long address = symbol.isFunction() ? symbol.value() & ~1L : symbol.value();
                        if (!all.contains(address)) {
                            all.add(address);
                        }
                    });
            return byName;
        }

        /** The address in the other image. */
        public long of(long address) {
            Map.Entry<Long, Long> symbol = distances.floorEntry(address);
            return symbol == null ? address : address + symbol.getValue();
        }
    }
}
