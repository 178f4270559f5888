// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.frontend.tflite.schema.BuiltinOperator;

/**
 * How one operator is imported: a line in the table of its family.
 *
 * @param name of a builtin operator, or the code of a custom one
 * @param isCustom whether it is a custom operator
 * @param maxVersion the newest version whose features the importer knows and checks
 * @param uint8 what the importer is shown of quantized uint8
 */
public record Registration(String name, boolean isCustom, int maxVersion, OperatorImporter importer, Uint8 uint8) {
    /** What an importer is shown of tensors that are quantized to uint8. */
    public enum Uint8 {
        /** The tensors as they are. */
        UNCHANGED,
        /** Tensors of int8 for the same real numbers: the kernel for uint8 computes what the one for int8 does. */
        AS_INT8,
        /** Tensors of uint8 or int8, whichever the graph holds already: the kernel takes both. */
        AS_HELD
    }

    /** A builtin operator. */
    public static Registration builtin(BuiltinOperator operator, int maxVersion, OperatorImporter importer) {
        return new Registration(operator.name(), false, maxVersion, importer, Uint8.UNCHANGED);
    }

    /** A custom operator. The versions that files state of these mean nothing. */
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
}
