// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Digests;
import io.kiln.codegen.CodeUnit;
import io.kiln.tir.PrimFunc;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Keeps one copy of tables that have the same content, such as rows of a zero point and the exponentials of several softmax operators. */
final class SharedTables {
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
