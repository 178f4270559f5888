// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.DType;
import io.kiln.base.Digests;
import io.kiln.base.Optimize;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.RamSections;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Numbers;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.PrimFunc.Table;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Gives operators that compute the same with other numbers and tables one function. Each keeps its own, which hands over what it differs in.
 */
final class SharedFunctions {
    /** Numbers and tables handed over at most: more would not stay in registers. */
    private static final int MOST = 8;

    private static final String SUFFIX = "_shared";
    private static final int INSTRUCTION = 4;
    /** Bytes of a function that only calls another one, and those for each number or table that it hands over: two halves and a push. */
    private static final int CALLER = 12;

    private static final int HANDED_OVER = 8;

    private SharedFunctions() {}

    /** What functions have in common that one may stand for. */
    private record Form(
            Stmt shape, List<Buffer> buffers, List<Expr.Var> scalars, List<Buffer> tables, boolean isCopiedToRam) {}

    /** Functions of a form, and for each of their numbers and tables those that are always equal to it. */
    private static final class Group {
        private final List<PrimFunc> members = new ArrayList<>();
        private final List<Numbers> numbers = new ArrayList<>();
        private List<Integer> columns = List.of();
        private Set<Integer> varying = Set.of();

        /** Takes a function, if what is handed over does not become too much. */
        boolean add(PrimFunc function, Numbers itsNumbers) {
            List<Object> contents = contents(function, itsNumbers);
            Map<List<Object>, Integer> classes = new HashMap<>();
            List<Integer> newColumns = new ArrayList<>();
            Set<Integer> newVarying = new HashSet<>();
            List<Object> firsts = members.isEmpty() ? contents : contents(members.get(0), numbers.get(0));
            for (int i = 0; i < contents.size(); i++) {
                int before = members.isEmpty() ? 0 : columns.get(i);
                int number = classes.size();
                int column = classes.computeIfAbsent(List.of(before, contents.get(i)), key -> number);
                newColumns.add(column);
                if (varying.contains(before) || !contents.get(i).equals(firsts.get(i))) {
                    newVarying.add(column);
                }
            }
            if (newVarying.size() > MOST) {
                return false;
            }
            columns = newColumns;
            varying = newVarying;
            members.add(function);
            numbers.add(itsNumbers);
            return true;
        }

        private static List<Object> contents(PrimFunc function, Numbers numbers) {
            List<Object> contents = new ArrayList<>();
            for (Expr number : numbers.values()) {
                contents.add(List.of(number.dtype(), Numbers.bits(number)));
            }
            function.constants().forEach(table -> contents.add(table.symbol()));
            return contents;
        }

        boolean pays(boolean isUnrolled) {
            Numbers any = numbers.get(0);
            long own = (long) INSTRUCTION * (isUnrolled ? any.unrolled() : any.operations());
            long callers = (long) members.size() * (CALLER + HANDED_OVER * varying.size());
            return members.size() * own > own + callers;
        }

        PrimFunc shared() {
            PrimFunc first = members.get(0);
            List<Expr> values = new ArrayList<>(numbers.get(0).values());
            Map<Integer, Expr.Var> parameters = new LinkedHashMap<>();
            for (int i = 0; i < values.size(); i++) {
                if (varying.contains(columns.get(i))) {
                    DType dtype = values.get(i).dtype();
                    String name = "number" + (parameters.isEmpty() ? "" : 1 + parameters.size());
                    values.set(i, parameters.computeIfAbsent(columns.get(i), column -> new Expr.Var(name, dtype)));
                }
            }
            List<Buffer> buffers = new ArrayList<>(first.buffers());
            List<Table> tables = new ArrayList<>();
            for (int i = 0; i < first.constants().size(); i++) {
                Table table = first.constants().get(i);
                if (isHandedOver(i)) {
                    buffers.add(table.buffer());
                } else {
                    tables.add(table);
                }
            }
            List<Expr.Var> scalars = new ArrayList<>(first.scalars());
            scalars.addAll(parameters.values());
            return new PrimFunc(
                    first.name() + SUFFIX,
                    members.size() + " operators like this one: " + first.comment(),
                    buffers,
                    scalars,
                    tables,
                    Numbers.replace(first.body(), values));
        }

        private boolean isHandedOver(int table) {
            return varying.contains(columns.get(numbers.get(0).values().size() + table));
        }

        /** A member that calls the shared function. */
        PrimFunc caller(int member) {
            PrimFunc function = members.get(member);
            List<Table> tables = new ArrayList<>();
            for (int i = 0; i < function.constants().size(); i++) {
                if (isHandedOver(i)) {
                    tables.add(function.constants().get(i));
                }
            }
            List<Buffer> buffers = new ArrayList<>(function.buffers());
            tables.forEach(table -> buffers.add(table.buffer()));
            Map<Integer, Expr> handed = new LinkedHashMap<>();
            List<Expr> values = numbers.get(member).values();
            for (int i = 0; i < values.size(); i++) {
                if (varying.contains(columns.get(i))) {
                    handed.putIfAbsent(columns.get(i), values.get(i));
                }
            }
            List<Expr> scalars = new ArrayList<>(function.scalars());
            scalars.addAll(handed.values());
            return new PrimFunc(
                    function.name(),
                    function.comment(),
                    function.buffers(),
                    function.scalars(),
                    tables,
                    new Stmt.CallFunction(members.get(0).name() + SUFFIX, buffers, scalars));
        }
    }

    /** For each function that calls one that several share, how many do. */
    static Map<String, Long> sharers(CodeUnit code) {
        Map<String, Long> counts = new HashMap<>();
        Map<String, String> shared = new HashMap<>();
        for (PrimFunc function : code.functions()) {
            if (function.body() instanceof Stmt.CallFunction call
                    && call.function().endsWith(SUFFIX)) {
                shared.put(function.name(), call.function());
                counts.merge(call.function(), 1L, Long::sum);
            }
        }
        Map<String, Long> sharers = new HashMap<>();
        shared.forEach((function, called) -> sharers.put(function, counts.get(called)));
        return sharers;
    }

    /** The same code, whose functions call one of those that several of them would be. */
    static CodeUnit within(CodeUnit code, Optimize optimize) {
        Set<String> copied = code.ram().functions();
        Map<Form, Group> open = new HashMap<>();
        List<Group> groups = new ArrayList<>();
        for (PrimFunc function : code.functions()) {
            Numbers numbers = Numbers.of(function.body());
            List<Buffer> tables =
                    function.constants().stream().map(Table::buffer).toList();
            Form form = new Form(
                    numbers.shape(), function.buffers(), function.scalars(), tables, copied.contains(function.name()));
            Group group = open.get(form);
            if (group == null || !group.add(function, numbers)) {
                Group next = new Group();
                next.add(function, numbers);
                open.put(form, next);
                groups.add(next);
            }
        }
        Map<String, List<PrimFunc>> replaced = new HashMap<>();
        Set<String> ram = new HashSet<>(copied);
        for (Group group : groups) {
            if (group.pays(optimize != Optimize.SIZE)) {
                PrimFunc shared = group.shared();
                if (copied.contains(group.members.get(0).name())) {
                    ram.add(shared.name());
                }
                for (int i = 0; i < group.members.size(); i++) {
                    PrimFunc caller = group.caller(i);
                    replaced.put(caller.name(), i == 0 ? List.of(shared, caller) : List.of(caller));
                }
            }
        }
        return code.withFunctions(code.functions().stream()
                        .flatMap(function -> replaced.getOrDefault(function.name(), List.of(function)).stream())
                        .toList())
                .with(new RamSections(code.ram().header(), ram));
    }

    /** Keeps one copy of tables that have the same content, such as rows of a zero point and the exponentials of several softmax operators. */
    static final class SharedTables {
        /** Bytes of a table from which a name that is not its operator's pays. */
        private static final int LEAST = 64;

        /** Type first, then content: a table that others begin with comes directly before one of them. */
        private static final Comparator<PrimFunc.Table> ORDER = Comparator.comparing(
                        (PrimFunc.Table table) -> table.buffer().dtype())
                .thenComparing(table -> table.data().buffer(), SharedTables::compare)
                .thenComparing(PrimFunc.Table::symbol);

        private SharedTables() {}

        /**
         * The same code in which operators read the tables of others, if those begin with the elements of theirs. Tables in memory pools stay, because
         * those were filled by what each operator needs.
         */
        static CodeUnit within(CodeUnit code) {
            List<PrimFunc.Table> tables = new ArrayList<>(code.functions().stream()
                    .flatMap(function -> function.constants().stream())
                    .filter(table -> table.pool().isEmpty() && table.data().size() >= LEAST)
                    .sorted(ORDER)
                    .toList());
            Map<String, PrimFunc.Table> wholes = new HashMap<>();
            for (int i = tables.size() - 2; i >= 0; i--) {
                if (tables.get(i).isPartOf(tables.get(i + 1))) {
                    wholes.put(tables.get(i).symbol(), tables.get(i + 1));
                    tables.set(i, tables.get(i + 1));
                }
            }
            return with(code, table -> table.within(wholes.getOrDefault(table.symbol(), table)));
        }

        /** Signatures of a file read the same weights: an image with several keeps one copy of equal tables. */
        static CodeUnit amongSignatures(CodeUnit code) {
            return with(
                    code,
                    table -> table.pool().isPresent() || table.data().size() < LEAST
                            ? table
                            : table.sharedAs(InterfaceNames.SHARED_PREFIX
                                    + table.buffer().dtype().text() + "_"
                                    + Digests.sha256(table.data().toArray()).substring(0, 32)));
        }

        /** Bytes of the tables of operators that no file holds, because they are those of others. */
        static long savedBytes(CodeUnit code) {
            Set<String> counted = new HashSet<>();
            return code.functions().stream()
                    .flatMap(function -> function.constants().stream())
                    .mapToLong(table -> table.buffer().bytes()
                            - (counted.add(table.symbol()) ? table.data().size() : 0))
                    .sum();
        }

        private static CodeUnit with(CodeUnit code, UnaryOperator<PrimFunc.Table> other) {
            return code.withFunctions(code.functions().stream()
                    .map(function -> function.withTables(other))
                    .toList());
        }

        private static int compare(ByteBuffer a, ByteBuffer b) {
            int at = a.mismatch(b);
            return at >= 0 && at < Math.min(a.limit(), b.limit())
                    ? Byte.compareUnsigned(a.get(at), b.get(at))
                    : Integer.compare(a.limit(), b.limit());
        }
    }
}
