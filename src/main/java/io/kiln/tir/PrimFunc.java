// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.Bytes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A function of the loop IR.
 *
 * @param name C name
 * @param comment one line: what it computes, shapes, what is fused
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
     * @param symbol C name of the table, unique in the file
     * @param buffer what the function calls it, its type and size; scope {@link Buffer.Scope#CONSTANT}
     * @param data elements, little-endian
     * @param comment what its elements are, where the type does not say so; empty for none
     */
    public record Table(String symbol, Buffer buffer, Bytes data, String comment) {
        public Table {
            if (buffer.bytes() != data.size()) {
                throw new IllegalArgumentException(
                        "table " + buffer.name() + " holds " + data.size() + " bytes, not " + buffer.bytes());
            }
        }

        /** A table whose type says what its elements are. */
        public Table(String symbol, Buffer buffer, Bytes data) {
            this(symbol, buffer, data, "");
        }
    }

    /** The same function by another name. */
    public PrimFunc named(String newName) {
        return new PrimFunc(newName, comment, buffers, scalars, constants, body);
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
