// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.RamCopies;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.RamSections;
import io.kiln.codegen.c.UsedIntrinsics;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.executor.PlannedModule;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.target.SpareRam;
import io.kiln.target.SpareRam.RamShare;
import io.kiln.target.SpareRam.Reads;
import io.kiln.target.TargetKind;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decides which tables and functions a program copies to RAM when it starts: those that save most cycles for their bytes.
 *
 * <p>A table saves what its {@linkplain LoweredOperator#lineReads line reads} wait. A micro-kernel that is larger than the cache of code is read
 * anew in each of its turns: it saves the wait of each instruction that is executed, of which a product takes about {@link #BYTES_PER_PRODUCT}
 * bytes. Smaller ones save nothing. Where flash makes nobody wait, what is asked for is chosen as if each read took a cycle.
 */
final class RamPlacement {
    /** Tables begin at multiples of it. */
    private static final int ALIGNMENT = 16;

    /** What a model may take if its workspace, inputs and outputs take less. */
    private static final int SMALL_ROOM = 12 * 1024;

    /** Left to variables and stack beside the models. */
    private static final int RESERVE = 8 * 1024;

    /** Bytes of instructions for a multiply-accumulate: kernels for two pixels take 14 instructions of 32 bits for 16 products, loads included. */
    private static final double BYTES_PER_PRODUCT = 3.5;

    /** What an inference must save for each byte to be worth it unasked: copying takes about 1.4 cycles a byte, once. */
    private static final double LEAST_SAVING = 0.4;

    /** The part of its weights that a model may take: what a large model of dense layers reads from flash, it reads once. */
    private static final int PART_OF_WEIGHTS = 8;

    /** Units of a knapsack, which bounds its time: as many as 128 KB have. */
    private static final int MOST_UNITS = 8192;

    private static final int KILOBYTE = 1024;

    private final RamOptions asked;
    private final SpareRam spare;
    private final boolean hasSections;
    private final PlannedModule module;
    private final CodeUnit code;
    private final Map<String, LoweredOperator> operators = new HashMap<>();

    /** Something that can be copied, its bytes (0 if nobody knows), and the cycles that an inference saves by it. */
    private record Item(String name, boolean isCode, long bytes, double saved) {
        double perByte() {
            return saved / Math.max(1, bytes);
        }

        /** The same thing with what others save by it. */
        Item with(Item others) {
            return new Item(name, isCode, bytes, saved + others.saved);
        }

        boolean fits(long room) {
            return bytes > 0 && bytes <= room;
        }

        /** Units that it takes, the last one perhaps in part. */
        long units(long unit) {
            return (bytes + unit - 1) / unit;
        }
    }

    /** Code with its place, and what that gives. */
    record Placed(CodeUnit code, RamCopies copies) {}

    private RamPlacement(CompileRequest request, PlannedModule module, CodeUnit code) {
        this.asked = request.options().ram();
        this.spare = request.target().pools().spare();
        this.hasSections = request.target().host().kind() == TargetKind.C;
        this.module = module;
        this.code = code;
        module.operators().forEach(operator -> operators.put(operator.function().name(), operator));
    }

    /**
     * Places the code of a module.
     *
     * @param code its functions and tables; a table that lies in a pool stays there
     */
    static Placed place(CompileRequest request, PlannedModule module, CodeUnit code) {
        return new RamPlacement(request, module, code).place();
    }

    private Placed place() {
        List<Item> items = new ArrayList<>(tables());
        items.addAll(kernels());
        items.sort(Comparator.comparingDouble((Item item) -> -item.perByte()).thenComparing(Item::name));
        Set<Item> unasked = mostSaving(
                items.stream()
                        .filter(item -> share(item).kind() == RamShare.Kind.AUTO && item.bytes > 0 && isWorthIt(item))
                        .toList(),
                room());
        long codeLeft = asked.code().bytes().orElse(0);
        long weightsLeft = asked.weights().bytes().orElse(0);
        List<Item> copied = new ArrayList<>();
        Optional<Item> next = Optional.empty();
        for (Item item : items) {
            boolean isTaken = switch (share(item).kind()) {
                case ALL -> true;
                case NONE -> false;
                case SOME -> item.fits(item.isCode ? codeLeft : weightsLeft);
                case AUTO -> unasked.contains(item);
            };
            if (isTaken) {
                copied.add(item);
                codeLeft -= item.isCode ? item.bytes : 0;
                weightsLeft -= item.isCode ? 0 : item.bytes;
            } else if (next.isEmpty() && item.saved > 0 && isFaster(item)) {
                next = Optional.of(item);
            }
        }
        return new Placed(
                placed(copied),
                new RamCopies(
                        bytes(copied, true),
                        bytes(copied, false),
                        Math.round(copied.stream().mapToDouble(Item::saved).sum()),
                        next.map(item -> Math.round(item.perByte() * Math.min(KILOBYTE, item.bytes)))
                                .orElse(0L)));
    }

    /**
     * The items that save most together within some bytes: a small one with more for each byte must not keep a large one out. Solved exactly, as a
     * knapsack of units of {@link #ALIGNMENT} bytes, of larger ones where there is room for more than {@link #MOST_UNITS}.
     */
    private static Set<Item> mostSaving(List<Item> items, long room) {
        long unit = Math.max(ALIGNMENT, (room + MOST_UNITS - 1) / MOST_UNITS);
        int units = (int) (room / unit);
        double[] saved = new double[units + 1];
        List<BitSet> taken = new ArrayList<>();
        for (Item item : items) {
            BitSet better = new BitSet();
            long size = item.units(unit);
            for (int used = units; used >= size; used--) {
                double with = saved[(int) (used - size)] + item.saved;
                if (with > saved[used]) {
                    saved[used] = with;
                    better.set(used);
                }
            }
            taken.add(better);
        }
        Set<Item> chosen = new HashSet<>();
        int left = units;
        for (int i = items.size() - 1; i >= 0; i--) {
            if (taken.get(i).get(left)) {
                chosen.add(items.get(i));
                left -= (int) items.get(i).units(unit);
            }
        }
        return chosen;
    }

    private RamShare share(Item item) {
        return item.isCode ? asked.code() : asked.weights();
    }

    private boolean isWorthIt(Item item) {
        return item.perByte() >= LEAST_SAVING && isFaster(item);
    }

    private boolean isFaster(Item item) {
        return !item.isCode || spare.hasFastCode();
    }

    /**
     * Bytes that may be taken unasked: the board's share, if variables leave as much. A model takes no more than it needs in any case, or than a part
     * of its weights, but small ones may.
     */
    private long room() {
        long tensors = module.isCallerOwned()
                ? module.program().values().stream()
                        .filter(value -> value.place() == Place.INPUT || value.place() == Place.OUTPUT)
                        .mapToLong(
                                value -> value.elements() * value.type().dtype().bytes())
                        .sum()
                : 0;
        long own = module.workspaceBytes() + code.staticBytes() + tensors;
        long some = Math.max(own, module.constantBytes() / PART_OF_WEIGHTS);
        long polite = Math.min(spare.share(), Math.max(SMALL_ROOM, some));
        return Math.max(0, Math.min(polite, spare.variables() - own - RESERVE));
    }

    /** Tables that lie where they are linked; one that several operators read saves what all of them wait. */
    private List<Item> tables() {
        Map<String, Item> items = new TreeMap<>();
        Reads reads = spare.constants();
        for (PrimFunc function : code.functions()) {
            for (PrimFunc.Table table : function.constants()) {
                if (table.pool().isEmpty()) {
                    long read = table.buffer().bytes();
                    long lines = Optional.ofNullable(operators.get(function.name()))
                            .map(operator -> operator.lineReads(read, reads.lineBytes(), reads.cacheBytes()))
                            .orElse(0L);
                    long bytes = (table.data().size() + ALIGNMENT - 1L) & -ALIGNMENT;
                    items.merge(
                            table.symbol(),
                            new Item(table.symbol(), false, bytes, (double) lines * reads.states()),
                            Item::with);
                }
            }
        }
        return List.copyOf(items.values());
    }

    /** Micro-kernels with what the operators save that call them: by their largest one, because the others are for what that leaves over. */
    private List<Item> kernels() {
        if (!hasSections) {
            return List.of();
        }
        Reads reads = spare.code();
        Map<String, Double> saved = new HashMap<>();
        Map<String, Kernel> all = new TreeMap<>();
        for (PrimFunc function : code.functions()) {
            List<Kernel> called = UsedIntrinsics.kernels(List.of(function));
            long products = Optional.ofNullable(operators.get(function.name()))
                    .map(LoweredOperator::executedMacs)
                    .orElse(0L);
            called.forEach(kernel -> all.put(kernel.name(), kernel));
            called.stream()
                    .max(Comparator.comparingLong(Kernel::codeBytes))
                    .filter(kernel -> kernel.codeBytes() > reads.cacheBytes())
                    .ifPresent(kernel -> saved.merge(
                            kernel.name(),
                            products * BYTES_PER_PRODUCT * reads.states() / reads.lineBytes(),
                            Double::sum));
        }
        return all.values().stream()
                .map(kernel ->
                        new Item(kernel.name(), true, kernel.codeBytes(), saved.getOrDefault(kernel.name(), 0.0)))
                .toList();
    }

    private CodeUnit placed(List<Item> copied) {
        Set<String> names = new HashSet<>();
        copied.forEach(item -> names.add(item.name));
        if (asked.code().kind() == RamShare.Kind.ALL && hasSections) {
            code.functions().forEach(function -> names.add(function.name()));
        }
        if (names.isEmpty()) {
            return code;
        }
        List<PrimFunc> functions = code.functions().stream()
                .map(function -> function.withTablesIn(InterfaceNames.RAM_CONSTANTS, names))
                .toList();
        return code.withFunctions(functions)
                .with(new RamSections(Optional.of(module.names().ramHeader()), names));
    }

    private static long bytes(List<Item> items, boolean isCode) {
        return items.stream()
                .filter(item -> item.isCode == isCode)
                .mapToLong(Item::bytes)
                .sum();
    }
}
