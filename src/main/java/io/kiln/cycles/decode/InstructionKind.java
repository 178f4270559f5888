// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Kinds of instructions that cores give a timing of their own. */
public enum InstructionKind {
    /** Arithmetic, logic, shifts, extensions, saturation and moves of core registers. */
    ALU,
    /** Multiplications with a result of 32 bits, those of halfwords that are added included. */
    MULTIPLY,
    /** Multiply-accumulates with a result of 32 bits. */
    MULTIPLY_ADD,
    /** Multiplications with a result of 64 bits. */
    MULTIPLY_LONG,
    /** Multiply-accumulates with a result of 64 bits. */
    MULTIPLY_LONG_ADD,
    /** RISC-V's multiplications that keep the high half. */
    MULTIPLY_HIGH,
    DIVIDE,
    /** One register from memory. */
    LOAD,
    /** One byte or halfword from memory, where a core's timing differs from that of words (RISC-V). */
    LOAD_NARROW,
    STORE,
    LOAD_PAIR,
    STORE_PAIR,
    LOAD_MULTIPLE,
    STORE_MULTIPLE,
    /** A branch to a known address, with or without a condition. */
    BRANCH,
    CALL,
    /** A branch to an address in a register. */
    JUMP,
    TABLE_BRANCH,
    LOOP_START,
    LOOP_END,
    /** Arm's If-Then. */
    IT,
    NOP,
    BARRIER,
    /** Special registers, supervisor calls, breakpoints. */
    SYSTEM,
    ATOMIC,

    FLOAT_ADD,
    FLOAT_MULTIPLY,
    /** Multiply-accumulates, fused or not. */
    FLOAT_MAC,
    FLOAT_DIVIDE,
    FLOAT_SQRT,
    FLOAT_COMPARE,
    FLOAT_CONVERT,
    FLOAT_SELECT,
    /** Moves between registers, absolute value and negation included. */
    FLOAT_MOVE,
    FLOAT_MOVE_PAIR,
    /** Reads the status register. */
    FLOAT_STATUS,
    FLOAT_LOAD,
    FLOAT_STORE,
    FLOAT_LOAD_MULTIPLE,
    FLOAT_STORE_MULTIPLE,
    DOUBLE_ADD,
    DOUBLE_MULTIPLY,
    DOUBLE_MAC,
    DOUBLE_DIVIDE,
    DOUBLE_SQRT,
    DOUBLE_COMPARE,
    DOUBLE_CONVERT,
    DOUBLE_SELECT,
    DOUBLE_MOVE,
    DOUBLE_LOAD,
    DOUBLE_STORE,

    /** A load of a vector from contiguous or interleaved memory. */
    VECTOR_LOAD,
    VECTOR_STORE,
    /** A load from addresses in a vector. */
    VECTOR_GATHER,
    VECTOR_SCATTER,
    /** Integer arithmetic without multiplication. */
    VECTOR_ALU,
    /** Sums across a vector without multiplication. */
    VECTOR_SUM,
    /** Integer multiplications with vector results. */
    VECTOR_MULTIPLY,
    /** Multiply-accumulates across a vector into core registers. */
    VECTOR_MAC,
    VECTOR_FLOAT,
    VECTOR_FLOAT_MAC,
    /** A move between core registers and lanes. */
    VECTOR_MOVE,
    /** Comparisons into predicates, and what begins predicated instructions. */
    VECTOR_PREDICATE,

    /** An encoding that the tables do not have. */
    UNKNOWN;

    private static final Map<String, InstructionKind> BY_TEXT =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(InstructionKind::text, kind -> kind));

    /** The name in tables, such as {@code load-pair}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The kind of a name in a table. */
    public static Optional<InstructionKind> of(String text) {
        return Optional.ofNullable(BY_TEXT.get(text));
    }

    /** Whether it loads from memory. */
    public boolean isLoad() {
        return switch (this) {
            case LOAD,
                    LOAD_NARROW,
                    LOAD_PAIR,
                    LOAD_MULTIPLE,
                    FLOAT_LOAD,
                    FLOAT_LOAD_MULTIPLE,
                    DOUBLE_LOAD,
                    VECTOR_LOAD,
                    VECTOR_GATHER -> true;
            default -> false;
        };
    }

    /** Whether it moves one core register to or from memory. */
    public boolean isSingleAccess() {
        return this == LOAD || this == LOAD_NARROW || this == STORE;
    }
}
