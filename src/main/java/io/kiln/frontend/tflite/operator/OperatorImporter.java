// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

/** Converts one operator of the file to bindings; one implementation per operator family. */
public interface OperatorImporter {
    /**
     * Emits bindings and ends with {@link OperatorContext#finish}.
     *
     * @throws io.kiln.base.KilnException with all errors and unsupported features of the operator
     */
    void emit(OperatorContext operator);
}
