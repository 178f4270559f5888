// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.Bytes;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A function of the loop IR.
 *
 * @param name C name
 * @param comment one line: computation, shapes, fused operators
 * @param buffers pointer parameters: inputs, outputs, scratch
 * @param scalars integer parameters after the pointers, such as a range of rows
 * @param constants tables that it reads
 * @param body its statements
 */
public record PrimFunc(
        String name, String comment, List<Buffer> buffers, List<Expr.Var> scalars, List<Table> constants, Stmt body) {
    public PrimFunc {
        buffers = List.copyOf(buffers);
        scalars = List.copyOf(scalars);
        constants = List.copyOf(constants);
    }

    /**
     * A table in read-only memory.
     *
     * @param symbol C name of the table, unique in the file but for functions that read the same one
     * @param buffer its name in the function, type and size; scope {@link Buffer.Scope#CONSTANT}
     * @param data elements, little-endian; more than the buffer's if another function reads those
     * @param comment meaning of its elements, if the type does not show it; otherwise empty
     * @param pool the memory pool that it lies in; empty for that of all constants
     * @param isShared whether other files may define an equal table with the same symbol, of which a program keeps one
     */
    public record Table(
            String symbol, Buffer buffer, Bytes data, String comment, Optional<String> pool, boolean isShared) {
        public Table {
            if (buffer.bytes() > data.size() || data.size() % buffer.dtype().bytes() != 0) {
                throw new IllegalArgumentException(
                        "table " + buffer.name() + " holds " + data.size() + " bytes, not " + buffer.bytes());
            }
        }

        /** A table in the memory of all constants. */
        public Table(String symbol, Buffer buffer, Bytes data, String comment) {
            this(symbol, buffer, data, comment, Optional.empty(), false);
        }

        /** A table without a comment. */
        public Table(String symbol, Buffer buffer, Bytes data) {
            this(symbol, buffer, data, "");
        }

        /** The same table, shared with other files by a symbol that follows from its content. */
        public Table sharedAs(String newSymbol) {
            return new Table(newSymbol, buffer, data, comment, pool, true);
        }

        /** Whether another table of the same type begins with the elements of this one and lies in the same memory. */
        public boolean isPartOf(Table other) {
            return buffer.dtype() == other.buffer.dtype()
                    && pool.equals(other.pool)
                    && data.size() <= other.data.size()
                    && data.equals(other.data.part(0, data.size()));
        }

        /** The beginning of another table, in place of this one, which is {@linkplain #isPartOf part} of it. */
        public Table within(Table other) {
            return new Table(other.symbol, buffer, other.data, other.comment, pool, isShared);
        }

        private Table in(String newPool) {
            return new Table(symbol, buffer, data, comment, Optional.of(newPool), isShared);
        }
    }

    public PrimFunc named(String newName) {
        return new PrimFunc(newName, comment, buffers, scalars, constants, body);
    }

    /** The same function with its tables in a memory pool. */
    public PrimFunc withTablesIn(String pool) {
        return withTables(table -> table.in(pool));
    }

    /**
     * The same function with some of its tables in a memory pool.
     *
     * @param symbols names of the tables, among others
     */
    public PrimFunc withTablesIn(String pool, Set<String> symbols) {
        return withTables(table -> symbols.contains(table.symbol) ? table.in(pool) : table);
    }

    /** The same function with others in place of its tables, of the same buffers. */
    public PrimFunc withTables(UnaryOperator<Table> changed) {
        return new PrimFunc(
                name, comment, buffers, scalars, constants.stream().map(changed).toList(), body);
    }

    /** Whether the body reads any of the scalars. */
    public boolean readsScalars() {
        Set<String> read = new HashSet<>();
        UnusedScalars.readBy(body, read);
        return scalars.stream().anyMatch(scalar -> read.contains(scalar.name()));
    }

    /** Bytes of all tables. */
    public long constantBytes() {
        return constants.stream().mapToLong(t -> t.data().size()).sum();
    }
}
