// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

/** Turns one operator of the file into bindings; one implementation per operator family. */
public interface OperatorImporter {
    /**
     * Emits bindings and ends with {@link OperatorContext#finish}.
     *
     * @throws io.kiln.base.KilnException with everything about the operator that is not supported
     */
    void emit(OperatorContext operator);
}
