// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

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
