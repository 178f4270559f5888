// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.frontend.tflite.schema.BuiltinOperator;

/**
 * The importer of one operator: a line in the table of its family.
 *
 * @param name name of a builtin operator, or the code of a custom one
 * @param isCustom whether it is a custom operator
 * @param maxVersion newest supported version
 * @param uint8 how the importer sees tensors of quantized uint8
 */
public record Registration(String name, boolean isCustom, int maxVersion, OperatorImporter importer, Uint8 uint8) {
    /** How an importer sees tensors that are quantized to uint8. */
    public enum Uint8 {
        /** Unchanged. */
        UNCHANGED,
        /** As int8 with the same real values: the kernel for uint8 computes the same as the one for int8. */
        AS_INT8,
        /** As uint8 or int8, whichever the graph already holds: the kernel supports both. */
        AS_HELD
    }

    public static Registration builtin(BuiltinOperator operator, int maxVersion, OperatorImporter importer) {
        return new Registration(operator.name(), false, maxVersion, importer, Uint8.UNCHANGED);
    }

    /** A builtin operator with {@link Uint8#AS_INT8}. */
    public static Registration builtinOfBytes(BuiltinOperator operator, int maxVersion, OperatorImporter importer) {
        return builtin(operator, maxVersion, importer).uint8AsInt8();
    }

    /** A custom operator. Versions of custom operators in files are meaningless. */
    public static Registration custom(String code, OperatorImporter importer) {
        return new Registration(code, true, Integer.MAX_VALUE, importer, Uint8.UNCHANGED);
    }

    /** The same, with {@link Uint8#AS_INT8}. */
    public Registration uint8AsInt8() {
        return new Registration(name, isCustom, maxVersion, importer, Uint8.AS_INT8);
    }

    /** The same, with {@link Uint8#AS_HELD}. */
    public Registration uint8AsHeld() {
        return new Registration(name, isCustom, maxVersion, importer, Uint8.AS_HELD);
    }

    /** Converts one operator of the file to bindings; one implementation per operator family. */
    public interface OperatorImporter {
        /** Whether an input is memory that the operator may use, which no operator computes. */
        default boolean isMemory(int input) {
            return false;
        }

        /**
         * Emits bindings and ends with {@link OperatorContext#finish}.
         *
         * @throws io.kiln.base.KilnException with all errors and unsupported features of the operator
         */
        void emit(OperatorContext operator);
    }
}
