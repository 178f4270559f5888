// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import java.util.List;

/** A statement of a function in a {@link CFile}. Values are C expressions. */
public sealed interface CStatement {
    /**
     * Returns an error if a pointer is misaligned.
     *
     * @param alignment alignment in bytes, a power of two
     * @param error the returned value
     * @param errorName the error's name, for the comment
     */
    record CheckAlignment(String pointer, int alignment, String error, String errorName) implements CStatement {}

    /** A constant pointer to bytes. */
    record BytePointer(String name, String value) implements CStatement {}

    /** A struct with initial values in the order of its members. */
    record StructValue(String type, String name, List<Field> fields) implements CStatement {
        public StructValue {
            fields = List.copyOf(fields);
        }
    }

    /** Marks a parameter as unused. */
    record Ignore(String parameter) implements CStatement {}

    /** A variable with its first value, such as {@code int count}. */
    record Variable(String declaration, String value) implements CStatement {}

    /** Assigns a value to a variable or a member. */
    record Assign(String target, String value) implements CStatement {}

    /**
     * Runs statements between two calls. If the first one fails, nothing follows; if the last one fails, the status is an error.
     *
     * @param status a variable, which is an error before
     * @param first the first call, which returns 0 unless it fails
     * @param body what is done then
     * @param last the last call, which returns 0 unless it fails
     */
    record Between(String status, String first, List<CStatement> body, String last) implements CStatement {
        public Between {
            body = List.copyOf(body);
        }
    }

    /** Calls a function, and returns its error if it fails. */
    record Demand(String call) implements CStatement {}

    /**
     * Refuses a call: if a condition holds, returns an error with a message for the caller.
     *
     * @param condition when
     * @param message what {@code TVMGetLastError} gives then
     */
    record Refuse(String condition, String message) implements CStatement {}

    record Return(String value) implements CStatement {}

    /** The value of a struct's member. */
    record Field(String member, String value) {}
}
